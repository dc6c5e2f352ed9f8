import { Load } from '../../../src/kernel/load/load.js';

const MIB = 1024 * 1024;
const TOO_LARGE = expect.objectContaining({ code: 'ANSWER_TOO_LARGE' });
const OVERLOADED = expect.objectContaining({ code: 'OVERLOADED', retryAfterSeconds: 1 });

describe('memory of responses', () => {
  test('is reserved while one is built, held until it is sent, and free after that', () => {
    const load = new Load(256 * MIB);
    const response = load.open();
    response.add(MIB);
    response.add(MIB);
    expect(load.figures.bytes).toBe(7 * MIB);
    response.hold(Buffer.alloc(MIB));
    response.end();
    expect(load.figures.bytes).toBe(MIB);
    response.close();
    expect(load.figures.bytes).toBe(0);
  });

  test('is counted until the work ends, if the client goes before that', () => {
    const load = new Load(256 * MIB);
    const response = load.open();
    response.add(MIB);
    response.close();
    expect(load.figures.bytes).toBe(3.5 * MIB);
    response.hold(Buffer.alloc(MIB));
    expect(load.figures.bytes).toBe(0);
  });

  test('is counted once for a buffer that answers many', () => {
    const load = new Load(256 * MIB);
    const kept = Buffer.alloc(MIB);
    const responses = [load.open(), load.open(), load.open()];
    for (const response of responses) response.hold(kept);
    for (const response of responses) {
      expect(load.figures.bytes).toBe(MIB);
      response.close();
    }
    expect(load.figures.bytes).toBe(0);
  });

  test('of one response ends at 64 MiB', () => {
    const load = new Load(256 * MIB);
    const response = load.open();
    response.add(64 * MIB);
    expect(() => response.add(1)).toThrow(TOO_LARGE);
    response.end();
    expect(load.figures).toMatchObject({ bytes: 0, tooLarge: 1, overloaded: 0 });
  });

  test('of all ends at its bound', () => {
    const load = new Load(256 * MIB);
    const [one, another, other] = ['a', 'b', 'c'].map((caller) => Object.assign(load.open(), { caller }));
    one?.hold(Buffer.alloc(100 * MIB));
    another?.hold(Buffer.alloc(100 * MIB));
    expect(() => other?.add(20 * MIB)).toThrow(OVERLOADED);
    expect(() => other?.hold(Buffer.alloc(57 * MIB))).toThrow(OVERLOADED);
    one?.close();
    another?.close();
    other?.add(20 * MIB);
    other?.end();
    expect(load.figures).toMatchObject({ bytes: 0, tooLarge: 0, overloaded: 2 });
  });

  test('of one caller ends at half of it, so that others have some', () => {
    const load = new Load(256 * MIB);
    const [first, second, third] = [1, 2, 3].map(() => Object.assign(load.open(), { caller: 'a' }));
    first?.hold(Buffer.alloc(100 * MIB));
    expect(() => second?.hold(Buffer.alloc(29 * MIB))).toThrow(OVERLOADED);
    third?.hold(Buffer.alloc(28 * MIB));
    Object.assign(load.open(), { caller: 'b' }).hold(Buffer.alloc(100 * MIB));
    first?.close();
    second?.hold(Buffer.alloc(29 * MIB));
    expect(load.figures).toMatchObject({ bytes: 157 * MIB, overloaded: 1 });
  });
});

test('work that goes on after its response is refused, and keeps nothing', async () => {
  const load = new Load(256 * MIB);
  const response = load.open();
  response.add(MIB);
  response.end();
  const LATE = expect.objectContaining({ code: 'DEADLINE_EXCEEDED' });
  expect(() => response.add(MIB)).toThrow(LATE);
  // A change has been made all the same, and its idempotency key wants its response.
  response.write(MIB);
  await expect(response.turn('me', 'large')).rejects.toEqual(LATE);
  expect(load.figures).toMatchObject({ bytes: 0, heavyReads: { running: 0 } });
});

test('one request has one turn, however many heavy reads it makes', async () => {
  const load = new Load(256 * MIB);
  const response = load.open();
  await Promise.all([response.turn('me', 'huge'), response.turn('me', 'huge'), response.turn('me', 'large')]);
  expect(load.figures.heavyReads).toEqual({ running: 1, waiting: 0, refused: 0 });
  response.endTurn();
  response.endTurn();
  expect(load.figures.heavyReads).toEqual({ running: 1, waiting: 0, refused: 0 });
  response.endTurn();
  expect(load.figures.heavyReads).toEqual({ running: 0, waiting: 0, refused: 0 });
  await response.turn('me', 'large');
  response.close();
  response.end();
  expect(load.figures.heavyReads).toEqual({ running: 0, waiting: 0, refused: 0 });
});
