// Sends one request to the address given, as the service does, in the environment of this process.
import { send } from '../../../src/kernel/outbound/http.ts';

const [, , url] = process.argv;
const request = { url, method: 'GET', headers: {}, body: null, limitMs: 20_000, maxResponseBytes: 100 };
const { body } = await send({}, request, { allowPrivateTargets: true });
process.stdout.write(body);
