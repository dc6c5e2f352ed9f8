import type { Config } from '../config.js';
import { tokenFileIn, type UnusedToken } from './bootstrap.js';

/** A service that listens, and its first token: at the very first start itself, later only where it is. */
interface Started {
  readonly url: string;
  readonly bootstrapToken: string | null;
  readonly unusedToken: UnusedToken | null;
}

/**
 * One screen: where the service listens and, at the very first start, the token of the first admin and a line that works when pasted.
 * Later only the path of the token, until it is used.
 *
 * @param isTerminal whether somebody reads it. Anything else stores what is printed: then the screen names the file of the token
 */
export function greeting(
  { dataDir, bootstrapToken: given }: Pick<Config, 'dataDir' | 'bootstrapToken'>,
  { url, bootstrapToken, unusedToken }: Started,
  { isTerminal }: { readonly isTerminal: boolean },
): string {
  const file = tokenFileIn(dataDir);
  const first = () =>
    given === null
      ? firstToken({ url, file, token: isTerminal ? bootstrapToken : null })
      : explained('  The token of the first admin is the value of BOOTSTRAP_TOKEN', '$BOOTSTRAP_TOKEN', url);
  return `
Strongroom is ready at ${url}

${bootstrapToken === null ? '' : first()}${unusedToken === null ? '' : reminder(unusedToken)}  In a browser:

    ${url}/console   what needs a person, what expires, who can read what
    ${url}/graphql   GraphQL explorer
    ${url}/docs      REST API reference
    ${url}/guides    guides, and GraphQL by task

`;
}

/** @param token null when it must not be printed */
function firstToken({ url, file, token }: { url: string; file: string; token: string | null }): string {
  const where =
    token === null
      ? `  The token of the first admin is in ${file}`
      : `  Token of the first admin, shown only now and stored in ${file}:

    ${token}
`;
  return explained(where, token ?? `$(cat ${quoted(file)})`, url);
}

/** @param value as a shell inserts it between double quotes */
const explained = (where: string, value: string, url: string): string => `${where}
  It expires after a day unless you use it.

  Try it:

    curl -s -H "Authorization: Bearer ${value}" ${url}/api/v1/projects

`;

const reminder = ({ file, isExpired }: UnusedToken): string =>
  isExpired
    ? '  The token of the first admin expired because nobody used it within a day. `npm run recover-admin` makes a new one.\n\n'
    : `  The token of the first admin has not been used yet. It is in ${file}\n\n`;

/** A path as one word of a shell, also inside double quotes. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
