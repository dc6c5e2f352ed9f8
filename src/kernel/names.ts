/** `secret-folders` and `describeSecret` as names of an enum: `SECRET_FOLDERS`, `DESCRIBE_SECRET`. Words in capitals are names already. */
export type EnumName<Word extends string> = Word extends Uppercase<Word> ? Word : UpperSnakeCase<Word>;
type UpperSnakeCase<Word extends string> = Word extends `${infer Letter}${infer Rest}`
  ? `${Letter extends '-' ? '_' : Letter extends Lowercase<Letter> ? Uppercase<Letter> : `_${Letter}`}${UpperSnakeCase<Rest>}`
  : '';

/** How GraphQL names a word that REST and stored rules have in lower case. */
export const enumName = <Word extends string>(word: Word): EnumName<Word> =>
  (word === word.toUpperCase() ? word : word.replace(/-|(?=[A-Z])/g, '_').toUpperCase()) as EnumName<Word>;

/** A name with a capital at its beginning: `listTags` as `ListTags`. */
export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
