import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { ProjectAccess } from '../../projects/public.js';
import { authorizeReferences } from '../references/reference-writes.js';
import { authorizeSubjectChanges, fieldsOf, type SecretSubject, Visibility } from '../scope/visibility.rules.js';
import { type VersionedSecret, VersionVisibility } from '../versions/version.rules.js';

/** A secret that a restore writes, as rules see it. */
interface Restoration {
  /** The current state of the restored secret. */
  readonly secret: VersionedSecret;
  /** What is overwritten: the secret itself, or one that has its name; null for nothing. */
  readonly before: SecretSubject | null;
  /** As it was. */
  readonly old: SecretSubject;
  /** As it will be. */
  readonly after: SecretSubject;
}

/** What a caller may restore. */
export class RestoreGuard {
  readonly #visibility: Visibility;

  constructor(private readonly project: ProjectAccess) {
    this.#visibility = new Visibility(project.ability);
  }

  /**
   * @throws PERMISSION_DENIED unless the caller may see the version, and may change the existing secret into it, or
   * create it. A restore does not let anybody read what they may not read as a version: deleting a secret first, or its
   * earlier move, changes nothing.
   */
  authorize({ secret, before, old, after }: Restoration): void {
    const versions = this.versionsOf(secret);
    if (!versions.describes(old)) this.#deny('secrets:describeSecret');
    if (before === null) {
      authorize(this.project, 'secrets:create', fieldsOf(after));
    } else {
      this.requireDescribed(before);
      authorizeSubjectChanges(this.project, [{ before, after }]);
    }
    if (this.#visibility.readsValue(after) && !versions.readsValue(old)) this.#deny('secrets:readValue');
  }

  /**
   * @param value of the version, decrypted only when it matters
   * @param at its path in an error
   * @throws PERMISSION_DENIED where the value would reference secrets that the caller may not see and that it did not
   * reference then. Without the right to read it, an error would reveal what it references: then the caller must be
   * allowed to reference any secret.
   */
  authorizeValue(
    { secret, old, after }: Omit<Restoration, 'before'>,
    { value, at }: { value: () => SealedText; at: string },
  ): void {
    if (this.#visibility.describesAll) return;
    if (!this.versionsOf(secret).readsValue(old)) this.#deny('secrets:readValue');
    const contents = value();
    const earlier = () => [{ value: contents, environment: old.environment, path: old.path }];
    authorizeReferences(this.project, [
      { value: contents, environment: after.environment, path: after.path, at, earlier },
    ]);
  }

  /** @throws PERMISSION_DENIED unless the caller may see a secret and delete it */
  authorizeRemoval(subject: SecretSubject): void {
    this.requireDescribed(subject);
    authorize(this.project, 'secrets:delete', fieldsOf(subject));
  }

  /** The rules depend on single secrets. */
  get isPerSecret(): boolean {
    return this.#visibility.isPerSecret;
  }

  /** True when the caller may see a secret. */
  describes(subject: SecretSubject): boolean {
    return this.#visibility.describes(subject);
  }

  /** True when the caller may read the value of a secret. */
  readsValue(subject: SecretSubject): boolean {
    return this.#visibility.readsValue(subject);
  }

  /** What the caller may see of the versions of a secret. */
  versionsOf(secret: VersionedSecret): VersionVisibility {
    return new VersionVisibility(this.#visibility, secret);
  }

  /** The report of a restore names the secrets. @throws PERMISSION_DENIED unless the caller may see one */
  requireDescribed(subject: SecretSubject): void {
    if (!this.#visibility.describes(subject)) this.#deny('secrets:describeSecret');
  }

  #deny(action: 'secrets:readValue' | 'secrets:describeSecret'): never {
    throw new PermissionDenied({ action, projectId: this.project.projectId });
  }
}
