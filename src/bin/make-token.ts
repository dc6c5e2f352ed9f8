import { mintToken } from '../kernel/crypto/token.js';

// `npm run token`: a fresh token, for BOOTSTRAP_TOKEN. It is stored nowhere.
process.stdout.write(`${mintToken()}\n`);
