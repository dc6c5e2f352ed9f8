import { connect } from 'node:net';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** Everything that the service answers to these bytes. */
function answerTo(...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(strongroom.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end of the answer: ${text}`)));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', reject).on('close', () => resolve(text));
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });
}

describe('a request that Node itself would refuse without a word', () => {
  test.each<[string, string[]]>([
    ['without a host', ['GET /livez HTTP/1.1', 'Connection: close']],
    ['to open a tunnel', ['CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443']],
  ])('%s is answered in the shape of all errors', async (_, lines) => {
    const answer = await answerTo(...lines);
    const [head = '', body = ''] = answer.split('\r\n\r\n');

    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
    expect(JSON.parse(body)).toMatchObject({ statusCode: 400, code: 'MALFORMED_REQUEST' });
  });

  test('with an expectation that is not known is answered as without it', async () => {
    const answer = await answerTo('GET /livez HTTP/1.1', 'Host: x', 'Expect: the-unexpected', 'Connection: close');
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}$/);
  });

  test('of HTTP/1.0 needs no host', async () => {
    expect(await answerTo('GET /livez HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
