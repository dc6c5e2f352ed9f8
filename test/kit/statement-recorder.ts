import { Relay } from './relay.ts';

/** A prepared statement as it was executed. */
export interface Executed {
  readonly text: string;
  /** As Postgres reads them from text. */
  readonly params: readonly (string | null)[];
}

const PARSE = 'P';
const BIND = 'B';

/** A relay before a database that notes what is executed through it. */
export class StatementRecorder {
  readonly executed: Executed[] = [];
  readonly #relay: Relay;

  private constructor(relay: Relay, executed: Executed[]) {
    this.#relay = relay;
    this.executed = executed;
  }

  static async start(databaseUrl: string): Promise<StatementRecorder> {
    const executed: Executed[] = [];
    return new StatementRecorder(await Relay.start(databaseUrl, 0, () => noteInto(executed)), executed);
  }

  /** The database through the relay. */
  get url(): string {
    return this.#relay.url;
  }

  stop(): Promise<void> {
    return this.#relay.stop();
  }
}

/** Reads what one connection sends: messages of a type, a length and a content, after a first one without a type. */
function noteInto(executed: Executed[]): (sent: Buffer) => void {
  const texts = new Map<string, string>();
  let isStarted = false;
  let rest: Buffer = Buffer.alloc(0);
  return (sent) => {
    rest = Buffer.concat([rest, sent]);
    for (;;) {
      const head = isStarted ? 1 : 0;
      if (rest.length < head + 4 || rest.length < head + rest.readInt32BE(head)) return;
      const end = head + rest.readInt32BE(head);
      const type = isStarted ? rest.toString('latin1', 0, 1) : '';
      const content = rest.subarray(head + 4, end);
      rest = rest.subarray(end);
      isStarted = true;
      if (type === PARSE) {
        const [name, text] = content.toString('utf8').split('\0') as [string, string];
        texts.set(name, text);
      }
      if (type === BIND) executed.push(boundOf(content, texts));
    }
  };
}

/** The statement of a message that binds parameters: names, formats of the parameters, and their values. */
function boundOf(content: Buffer, texts: ReadonlyMap<string, string>): Executed {
  let at = content.indexOf(0) + 1;
  const nameEnd = content.indexOf(0, at);
  const text = texts.get(content.toString('utf8', at, nameEnd)) ?? '';
  at = nameEnd + 1;
  const formats = Array.from({ length: content.readInt16BE(at) }, (_, place) =>
    content.readInt16BE(at + 2 + 2 * place),
  );
  at += 2 + 2 * formats.length;
  const count = content.readInt16BE(at);
  at += 2;
  const params: (string | null)[] = [];
  for (let place = 0; place < count; place += 1) {
    const length = content.readInt32BE(at);
    at += 4;
    const value = content.subarray(at, at + Math.max(length, 0));
    at += value.length;
    const isBinary = (formats[place] ?? formats[0] ?? 0) === 1;
    params.push(length < 0 ? null : isBinary ? `\\x${value.toString('hex')}` : value.toString('utf8'));
  }
  return { text, params };
}
