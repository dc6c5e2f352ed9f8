import { authorize, PermissionDenied } from '../../kernel/authz/ability.js';
import type { ProjectAccess } from '../projects/public.js';
import { authorizeSubjectChanges, fieldsOf, type SecretSubject, Visibility } from './visibility.rules.js';

/** One secret that a restore writes, as rules see it. */
interface Restoration {
  /** As it is; null when it is not there. */
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
   * @throws PERMISSION_DENIED unless the caller may know of the secret and the version, and may change the one into the other,
   *   or make it when it is not there. Nobody gets to read by it what was written where they could not.
   */
  authorize({ before, old, after }: Restoration): void {
    this.requireDescribed(old);
    if (before === null) {
      authorize(this.project, 'secrets:create', fieldsOf(after));
    } else {
      this.requireDescribed(before);
      authorizeSubjectChanges(this.project, [{ before, after }]);
    }
    if (this.#visibility.readsValue(after) && !this.#visibility.readsValue(old)) this.#deny('secrets:readValue');
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

  /** What a restore tells of itself names the secrets. @throws PERMISSION_DENIED unless the caller may know of one */
  requireDescribed(subject: SecretSubject): void {
    if (!this.#visibility.describes(subject)) this.#deny('secrets:describeSecret');
  }

  #deny(action: 'secrets:readValue' | 'secrets:describeSecret'): never {
    throw new PermissionDenied({ action, projectId: this.project.projectId });
  }
}
