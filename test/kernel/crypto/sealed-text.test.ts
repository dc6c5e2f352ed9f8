import { format, inspect } from 'node:util';
import { pino } from 'pino';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';

const CANARY = 'canary-7f3a';
const sealed = new SealedText(CANARY);

function logged(write: (log: pino.Logger) => void): string {
  const lines: string[] = [];
  write(pino({}, { write: (line: string) => lines.push(line) }));
  return lines.join('');
}

const ways: Record<string, () => string> = {
  'JSON.stringify': () => JSON.stringify({ nested: [sealed] }),
  'util.inspect': () => inspect(sealed),
  'util.inspect with hidden properties and without custom inspection': () =>
    inspect({ sealed }, { showHidden: true, customInspect: false, depth: 9 }),
  'a template': () => `value: ${sealed}`,
  String: () => String(sealed),
  concatenation: () => ['value: ', sealed].join(''),
  'the cause of an error': () => inspect(new Error('failed', { cause: sealed })),
  'the message of an error': () => new Error(sealed as unknown as string).message,
  structuredClone: () => inspect(structuredClone(sealed)) + JSON.stringify(structuredClone({ sealed })),
  'a log line': () => logged((log) => log.info({ sealed }, 'event')),
  spread: () => JSON.stringify({ ...sealed }),
  'Object.entries': () => String(Object.entries(sealed)),
  'util.format': () => format('%s %o %O %j', sealed, sealed, sealed, sealed),
};

describe('a sealed text', () => {
  test.each(Object.entries(ways))('prints as [sealed] by %s', (_way, print) => {
    const printed = print();
    expect(printed).toContain('[sealed]');
    expect(printed).not.toContain(CANARY);
  });

  test('shows nothing of the plaintext in any of its properties', () => {
    for (const name of Reflect.ownKeys(sealed)) expect(String(Reflect.get(sealed, name))).not.toContain(CANARY);
  });

  test('gives the plaintext to whoever reveals it', () => {
    expect(sealed.reveal()).toBe(CANARY);
  });
});
