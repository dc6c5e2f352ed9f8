import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

/** Everything that the service answers to these bytes. */
function answerTo(...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(strongroom.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no end of the answer: ${text}`)));
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

  test('to open a tunnel may be reset before it is answered, as often as anybody likes', async () => {
    const { hostname, port } = new URL(strongroom.url);
    const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n';
    const bytes = [tunnel, `GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${tunnel}`];
    for (let round = 0; round < 60; round += 1) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      await new Promise<void>((sent) => socket.write(bytes[round % 2] as string, () => sent()));
      await delay(round % 10);
      socket.resetAndDestroy();
    }

    expect(await answerTo('GET /livez HTTP/1.1', 'Host: x', 'Connection: close')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('with an expectation that is not known is answered as without it', async () => {
    const answer = await answerTo('GET /livez HTTP/1.1', 'Host: x', 'Expect: the-unexpected', 'Connection: close');
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}$/);
  });

  test('of HTTP/1.0 needs no host', async () => {
    expect(await answerTo('GET /livez HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
