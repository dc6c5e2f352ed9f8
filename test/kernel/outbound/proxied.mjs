// Sends one request to the address given, by the compiled service, in the environment of this process.
import { send } from '../../../.build/src/kernel/outbound/http.js';

const [, , url] = process.argv;
const request = { url, method: 'GET', headers: {}, body: null, limitMs: 20_000, maxResponseBytes: 100 };
const { body } = await send({}, request, { allowPrivateTargets: true });
process.stdout.write(body);
