import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { SecretView } from '../core/secret.view.js';
import { type FileFormat, printFile } from './transfer.rules.js';
import type { Entry, Inexpressible } from './transfer-format.rules.js';

/** A file of secrets, or what its format cannot represent. */
export type SealedFile = { readonly content: SealedText } | { readonly inexpressible: readonly Inexpressible[] };

/** Writes secrets into a file, in order. The caller leaves out those without a value. */
export async function printSecrets(
  secrets: readonly SecretView[],
  { format, includeComments, isExpanded }: { format: FileFormat; includeComments: boolean; isExpanded: boolean },
): Promise<SealedFile> {
  const printed = await printFile(
    format,
    secrets.map(({ secretKey, secretValue, secretComment, isRotatedSecret, referenceIssues }) => ({
      key: secretKey,
      value: secretValue?.reveal() ?? '',
      comment: includeComments ? secretComment?.reveal() : undefined,
      isFinal: isRotatedSecret || (isExpanded && referenceIssues.length === 0),
    })),
  );
  return 'text' in printed ? { content: new SealedText(printed.text) } : printed;
}

/**
 * Whether the secret has the value of the file and, where the file has one, the comment: as far as the caller may read
 * both.
 */
export const hasAlready = ({ secretValue, secretComment }: SecretView, { value, comment }: Entry): boolean =>
  secretValue?.reveal() === value && (comment === undefined || secretComment?.reveal() === comment);
