import type { JsonSchema } from './response-schema.js';

/** A header that some replies of an operation carry. */
export interface ReplyHeader<Data> {
  /** As the reference spells it. */
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Null: this reply goes without it. */
  readonly value: (data: Data) => string | null;
}

/** Those that a reply carries, by their names in small letters. */
export const replyHeaders = <Data>(
  headers: readonly ReplyHeader<Data>[] | undefined,
  data: Data,
): Record<string, string> =>
  Object.fromEntries(
    (headers ?? []).flatMap(({ name, value }) => {
      const text = value(data);
      return text === null ? [] : [[name.toLowerCase(), text]];
    }),
  );
