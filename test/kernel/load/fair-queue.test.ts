import { FairQueue } from '../../../src/kernel/load/fair-queue.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose work is told by name, in the order in which it began or was refused. */
function watched(bounds: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}) {
  const queue = new FairQueue({ capacity: 1, spare: 0, maxWaiting: 100, ...bounds });
  const reported: string[] = [];
  const enter = (caller: string, name: string, weight = 1) => {
    const ticket = queue.enter(caller, weight);
    void ticket.turn.then(
      () => reported.push(name),
      ({ code }: { code: string }) => reported.push(`${name} ${code}`),
    );
    return ticket;
  };
  return { queue, reported, enter };
}

describe('a fair queue', () => {
  test('lets callers take turns, each with its own in order', async () => {
    const { queue, reported, enter } = watched();
    const tickets = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => enter(name.charAt(0), name));
    const byName = new Map(tickets.map((ticket, index) => [['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'][index], ticket]));
    for (let done = 0; done < tickets.length; done += 1) {
      await settled();
      byName.get(reported[done])?.end();
    }
    expect(reported).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    expect(queue.figures).toEqual({ running: 0, waiting: 0, refused: 0 });
  });

  test('runs what fits together', async () => {
    const { reported, enter } = watched({ capacity: 6 });
    const first = enter('a', 'half', 3);
    enter('a', 'other half', 3);
    enter('a', 'waits', 3);
    enter('a', 'waits behind it');
    await settled();
    expect(reported).toEqual(['half', 'other half']);
    first.end();
    await settled();
    expect(reported).toEqual(['half', 'other half', 'waits']);
  });

  test('has room to spare for a caller of whom nothing runs', async () => {
    const { reported, enter } = watched({ capacity: 2, spare: 1 });
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    enter('b', 'b1');
    enter('b', 'b2');
    enter('c', 'c1');
    await settled();
    expect(reported).toEqual(['a1', 'a2', 'b1']);
  });

  test('refuses what is too much, and its longest line gives way to a shorter one', async () => {
    const { queue, reported, enter } = watched({ maxWaiting: 3 });
    for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) enter('a', name);
    await settled();
    expect(reported).toEqual(['a0', 'a4 OVERLOADED']);
    enter('b', 'b1');
    enter('b', 'b2');
    await settled();
    expect(reported).toEqual(['a0', 'a4 OVERLOADED', 'a3 OVERLOADED', 'b2 OVERLOADED']);
    expect(queue.figures).toEqual({ running: 1, waiting: 3, refused: 3 });
  });

  test('has a limit of its own for each caller', async () => {
    const { queue, reported, enter } = watched({ maxWaitingOfOne: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) enter(name.charAt(0), name);
    await settled();
    expect(reported).toEqual(['a1', 'a4 OVERLOADED']);
    expect(queue.figures).toEqual({ running: 1, waiting: 4, refused: 1 });
  });

  test('forgets who does not want to wait any more, and lets the next begin', async () => {
    const { queue, reported, enter } = watched({ capacity: 2 });
    const running = enter('a', 'a1');
    const heavy = enter('b', 'b1', 2);
    enter('c', 'c1');
    running.cancel();
    heavy.cancel();
    heavy.end();
    await settled();
    expect(reported).toEqual(['a1', 'c1', 'b1 OVERLOADED']);
    expect(queue.figures).toEqual({ running: 2, waiting: 0, refused: 1 });
  });

  test('never begins what has ended before its turn', async () => {
    const { queue, reported, enter } = watched();
    const running = enter('a', 'a1');
    enter('b', 'b1').end();
    running.end();
    enter('c', 'c1').end();
    await settled();
    expect(reported).toEqual(['a1', 'b1 OVERLOADED', 'c1']);
    expect(queue.figures).toEqual({ running: 0, waiting: 0, refused: 1 });
  });

  test('lets nobody overtake a caller of whom nothing runs', async () => {
    const { queue, reported, enter } = watched({ capacity: 2, spare: 1 });
    const [first, second, third] = [enter('a', 'a1'), enter('b', 'b1'), enter('c', 'c1')];
    enter('d', 'heavy', 3);
    first.end();
    enter('e', 'e1');
    second.end();
    enter('f', 'f1');
    await settled();
    expect(reported).toEqual(['a1', 'b1', 'c1']);
    expect(queue.figures.waiting).toBe(3);
    third.end();
    await settled();
    expect(reported.slice(3)).toEqual(['heavy']);
  });
});
