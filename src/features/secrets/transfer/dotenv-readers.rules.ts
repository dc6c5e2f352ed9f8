/*
 * What the readers of .env files have in common: a POSIX shell (`set -a; . file`), Docker Compose (compose-go/dotenv), the
 * npm package `dotenv`, and python-dotenv. They differ in escapes, comments and variables; inside single quotes they agree
 * on everything but quotes, some backslashes, carriage returns and `${NAME}`.
 */

/** Characters that mean nothing to any reader. `~` and braces are not among them. */
export const PLAIN = /^[\w.,:@%+=/-]*$/;

/**
 * A value written so that all of them read it, and no shell executes or replaces anything in it; undefined when there is
 * no such way.
 *
 * @param isFinal whether `${NAME}` in it is text: python-dotenv would replace it, also in single quotes. Otherwise it is a
 *   reference, and the file is for an import
 */
export function quotedAlike(value: string, isFinal = false): string | undefined {
  if (value !== '' && PLAIN.test(value)) return value;
  if (value.includes('\r') || (isFinal && PYTHON_VARIABLE.test(value))) return undefined;
  if (!value.includes("'")) return PYTHON_ESCAPE.test(value) ? undefined : `'${value}'`;
  return /["\\$`]/.test(value) ? undefined : `"${value}"`;
}

const PYTHON_VARIABLE = /\$\{[^}:]*(?::-[^}]*)?\}/;
/** python-dotenv takes two backslashes for one, and most readers take the last one for the escape of the quote. */
const PYTHON_ESCAPE = /\\(?:\\|$)/;

/**
 * Names that shells evaluate or set themselves. Some assign with arithmetic, which executes commands: in bash
 * `RANDOM='x[$(id)]'` runs `id`; others are prompts, which are expanded when they are printed.
 */
const SHELL_OWN = new RegExp(
  `^(?:${[
    'BASH.*|COMP_.*|HIST.*|KSH.*|PS\\d|_|__proto__',
    'COLUMNS|DIRSTACK|EGID|ENV|EPOCH(?:SECONDS|REALTIME)|ERRNO|EUID|FUNCNAME|FUNCNEST|GID|GROUPS|IFS|JOBMAX|LINENO|LINES',
    'MAILCHECK|OPTARG|OPTIND|PGRP|PIPESTATUS|PPID|PROMPT_COMMAND|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TMOUT|UID|USER_ID',
  ].join('|')})$`,
);

/** True for a key that a shell assigns as it is: any other would be the name of a command, or be evaluated. */
export const isShellName = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key) && !SHELL_OWN.test(key);

/** A value that all readers but shells read alike, or why there is none. */
type ReadValue =
  | { readonly value: string; readonly why?: undefined }
  | { readonly value?: undefined; readonly why: string };

/** The value of a line without quotes, from after the `=` to its end. */
export function unquotedValue(raw: string): ReadValue {
  // npm's package starts a comment at every `#`, the others only after a blank.
  const hash = raw.indexOf('#');
  if (hash !== -1 && raw[hash - 1] !== ' ')
    return { why: 'some readers start a comment at this #: put the value in quotes' };
  const value = raw.slice(0, hash === -1 ? raw.length : hash);
  // Readers remove different blanks at the ends.
  return /[^\P{Z} ]|[^\P{Cc}\t]|\ufeff/u.test(value)
    ? { why: 'contains a control character or an unusual blank: put the value in quotes' }
    : { value: value.trim() };
}

/** The value between quotes, from after the opening one to the first closing one. */
export function quotedValue(quote: string, content: string): ReadValue {
  const ambiguous = quote === '"' ? /\\[abcftv0$"'`\\\n]/ : PYTHON_ESCAPE;
  if (ambiguous.test(content) || content.endsWith('\\')) {
    return { why: 'readers differ in what a backslash means here: use the other quotes, or JSON or YAML' };
  }
  return { value: quote === '"' ? content.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : content };
}
