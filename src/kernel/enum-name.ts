/** `secret-folders` and `describeSecret` as names of an enum: `SECRET_FOLDERS`, `DESCRIBE_SECRET`. */
export type EnumName<Word extends string> = Word extends `${infer Letter}${infer Rest}`
  ? `${Letter extends '-' ? '_' : Letter extends Lowercase<Letter> ? Uppercase<Letter> : `_${Letter}`}${EnumName<Rest>}`
  : '';

/** How GraphQL names a word that REST and stored rules have in lower case. */
export const enumName = <Word extends string>(word: Word): EnumName<Word> =>
  word.replace(/-|(?=[A-Z])/g, '_').toUpperCase() as EnumName<Word>;
