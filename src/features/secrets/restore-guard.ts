import { authorize, PermissionDenied } from '../../kernel/authz/ability.js';
import type { SealedText } from '../../kernel/crypto/sealed-text.js';
import type { ProjectAccess } from '../projects/public.js';
import { authorizeReferences } from './reference-guard.js';
import { type Stood, VersionVisibility } from './version.rules.js';
import { authorizeSubjectChanges, fieldsOf, type SecretSubject, Visibility } from './visibility.rules.js';

/** One secret that a restore writes, as rules see it. */
interface Restoration {
  /** The secret that is brought back, as it stands. */
  readonly secret: Stood;
  /** What is written over: the secret itself, or one that has its name; null when nothing is. */
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
   * @throws PERMISSION_DENIED unless the caller may know of the version, and may change what is there into it, or make it when
   *   nothing is. Nobody gets to read by it what he may not read as a version: deleting a secret first, or its having been
   *   moved away, opens nothing.
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
   * @param value of the version, opened only when it matters
   * @param at where an error names it
   * @throws PERMISSION_DENIED where the value would refer to secrets that the caller may not describe and that it did not refer
   *   to then. Without the right to read it, a refusal would reveal what it refers to: then the caller must be allowed to refer to
   *   any secret.
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

  /** @throws PERMISSION_DENIED unless the caller may know of a secret and delete it */
  authorizeRemoval(subject: SecretSubject): void {
    this.requireDescribed(subject);
    authorize(this.project, 'secrets:delete', fieldsOf(subject));
  }

  /** The rules look at single secrets. */
  get isPerSecret(): boolean {
    return this.#visibility.isPerSecret;
  }

  /** True when the caller may know of a secret. */
  describes(subject: SecretSubject): boolean {
    return this.#visibility.describes(subject);
  }

  /** True when the caller may read the value of a secret. */
  readsValue(subject: SecretSubject): boolean {
    return this.#visibility.readsValue(subject);
  }

  /** What the caller may see of the versions of a secret. */
  versionsOf(secret: Stood): VersionVisibility {
    return new VersionVisibility(this.#visibility, secret);
  }

  /** What a restore tells of itself names the secrets. @throws PERMISSION_DENIED unless the caller may know of one */
  requireDescribed(subject: SecretSubject): void {
    if (!this.#visibility.describes(subject)) this.#deny('secrets:describeSecret');
  }

  #deny(action: 'secrets:readValue' | 'secrets:describeSecret'): never {
    throw new PermissionDenied({ action, projectId: this.project.projectId });
  }
}
