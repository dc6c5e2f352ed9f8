import { mintToken } from '../kernel/crypto/token.js';

const PURPOSE = `A random value for BOOTSTRAP_TOKEN, the token of the first admin: set it before the very first start. It is stored nowhere, and
no existing installation accepts it. To get into one whose admins are lost, use \`npm run recover-admin\`; to give a machine access, create
a token of its identity with the API.
`;

const USAGE = `npm run token

Prints on standard output:

${PURPOSE}`;

// `npm run token`: a fresh token, for BOOTSTRAP_TOKEN.
if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(USAGE);
} else {
  process.stdout.write(`${mintToken()}\n`);
  process.stderr.write(PURPOSE);
}
