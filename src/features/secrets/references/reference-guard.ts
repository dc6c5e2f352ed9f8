import { PermissionDenied } from '../../../kernel/authz/ability.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError } from '../../../kernel/errors.js';
import type { ProjectAccess } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { openSecretValue, referencesIn } from '../core/secret-sealing.js';
import { Visibility } from '../scope/visibility.rules.js';
import type { NamedPlace } from './reference-rewriting.js';

/** A value, and the folder that its references without a location start from. */
export interface PlacedValue extends NamedPlace {
  readonly value: SealedText;
}

/** A value to be written. */
export interface NewValue extends PlacedValue {
  /** Values that it replaces or comes from, as far as the writer may read them: their references may stay. */
  readonly earlier?: () => readonly PlacedValue[];
  /** Its path in the request. */
  readonly at: string;
}

/**
 * A value may reference only secrets that its writer may see: others expand it with their own rights, in locations that
 * the writer chooses. The rules decide by the path and key of a reference, as for a secret without tags. Whether the
 * secret exists makes no difference, so that nobody learns it by writing.
 *
 * Every method that writes values calls this with all of them, except for references that the service itself updates.
 *
 * @throws PERMISSION_DENIED, with the path of each value in the request
 */
export function authorizeReferences({ ability, projectId }: ProjectAccess, values: readonly NewValue[]): void {
  const visibility = new Visibility(ability);
  if (visibility.describesAll) return;
  const denied = values.filter((value) => !mayBeWritten(value, visibility));
  if (denied.length === 0) return;
  throw new PermissionDenied(
    { action: 'secrets:describeSecret', projectId },
    [],
    denied.map(({ at }) => ({ path: at, needs: 'secrets:describeSecret', about: 'refers to a secret that' })),
  );
}

/** The value of a secret before a write, if there is one that the writer may read and that can be decrypted. */
export function readableValue(
  opener: Sealer,
  { ability }: ProjectAccess,
  record: SecretRecord | undefined,
): readonly PlacedValue[] {
  if (record === undefined || !new Visibility(ability).readsValue(record)) return [];
  try {
    return [{ value: openSecretValue(opener, record), environment: record.environment, path: record.path }];
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return [];
    throw error;
  }
}

function mayBeWritten({ earlier = () => [], ...value }: NewValue, visibility: Visibility): boolean {
  const hidden = targetsOf(value).filter((target) => !visibility.describes({ ...target, tags: [] }));
  if (hidden.length === 0) return true;
  const stood = new Set(earlier().flatMap((old) => targetsOf(old).map(nameOf)));
  return hidden.every((target) => stood.has(nameOf(target)));
}

/** The secrets that a value references. */
const targetsOf = ({ value, ...place }: PlacedValue): (NamedPlace & { readonly key: string })[] =>
  referencesIn(value).map(({ environment, path, key }) => ({
    environment: environment ?? place.environment,
    path: path ?? place.path,
    key,
  }));

/** Neither slugs nor paths contain a blank. */
const nameOf = ({ environment, path, key }: NamedPlace & { readonly key: string }): string =>
  `${environment} ${path} ${key}`;
