import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Caller, mustSucceed, type Reply } from '../kit/caller.ts';
import { EventStreamClient } from '../kit/event-stream.ts';
import type { Rotating } from '../kit/rotating.ts';
import type { Seed, SeededProject } from '../kit/seed.ts';
import { expectThat } from './check.ts';

const SECRETS = 1_000;
const EVENTS_AT_ONCE = 500;
const READERS = 2;
const ROTATE_EVERY_MS = 20_000;
/** Of a hundred requests, how many of each kind; the rest change secrets. */
const SHARE = { read: 60, list: 10, login: 5 };
const NO_ANSWER = 0;
const QUIET_SECONDS = 10;

/** What a secret should hold, and how many changes of it were acknowledged. */
interface Entry {
  readonly key: string;
  value: string | null;
  changes: number;
}

/** One whose last change had no answer: it holds the one value or the other. */
interface Unsure extends Entry {
  readonly sent: string | null;
}

type Seeded = Awaited<ReturnType<Seed['project']>>;

/** Who logs in again and again. */
interface Login {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Reads, lists, changes, logins, rotations and readers of events at a constant rate, for hours. It knows what each secret should
 * hold, and judges every answer: others than those that are right are borne only while it is said to be disturbed.
 */
export class MixedLoad {
  readonly answers = { reads: 0, changes: 0, logins: 0, rotations: 0, refused: 0, cut: 0 };
  readonly #admin: Caller;
  /** Where it asks: each time at one of them. */
  readonly #urls: string[];
  readonly #project: SeededProject;
  readonly #rotating: Rotating;
  readonly #rotation: string;
  readonly #login: Login;
  readonly #free: Entry[] = [];
  readonly #unsure: Unsure[] = [];
  readonly #broken: string[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #feeds: Feed[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #isDisturbed = false;
  #disturbances = 0;
  #made = 0;

  private constructor({ admin, project }: Seeded, rotating: Rotating, rotation: string, login: Login) {
    this.#admin = admin;
    this.#urls = [admin.url];
    this.#project = project;
    this.#rotating = rotating;
    this.#rotation = rotation;
    this.#login = login;
  }

  /** Begins, with secrets that nobody has made yet. */
  static async start(seeded: Seeded, rotating: Rotating, perSecond: number): Promise<MixedLoad> {
    const rotation = await rotating.create();
    const load = new MixedLoad(seeded, rotating, rotation.id, await loginOf(seeded));
    for (let count = 0; count < SECRETS; count += 1) load.#free.push(load.#newEntry());
    for (let count = 0; count < READERS; count += 1) load.#feeds.push(await Feed.open(seeded));
    load.#timers.push(
      setInterval(() => load.#begin(load.#step()), 1_000 / perSecond),
      setInterval(() => load.#begin(load.#rotate()), ROTATE_EVERY_MS),
    );
    return load;
  }

  /** Asks at a further node too. */
  useAlso(url: string): void {
    this.#urls.push(url);
  }

  /** Asks only there from now on; readers of events too, once their connections end. */
  moveTo(url: string): void {
    this.#urls.splice(0, this.#urls.length, url);
    for (const feed of this.#feeds) feed.moveTo(url);
  }

  /** From here to the end of `work`, requests may be refused or cut off; those too that began before. */
  async disturbed<T>(work: () => Promise<T>): Promise<T> {
    this.#isDisturbed = true;
    this.#disturbances += 1;
    const result = await work();
    this.#isDisturbed = false;
    return result;
  }

  /** @throws Error when an answer was none of those that it may be */
  expectUnbroken(): void {
    const broken = [...this.#broken, ...this.#feeds.flatMap((feed) => feed.broken)];
    expectThat(broken.length === 0, `${broken.length} answers, the first: ${broken[0]}`);
  }

  /** Stops, and waits for what is under way. */
  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running);
  }

  /** @throws Error when an acknowledged change is lost, or an event of one is missing or came twice, or the rotation is not whole */
  async judge(): Promise<string> {
    this.expectUnbroken();
    const stored = await this.#stored();
    const entries = [...this.#free, ...this.#unsure];
    const lost = entries.filter(({ key, value, ...entry }) => {
      const found = stored.get(key) ?? null;
      return found !== value && !('sent' in entry && found === entry.sent);
    });
    expectThat(lost.length === 0, `${lost.length} secrets lost a change, the first ${JSON.stringify(lost[0])}`);
    const known = new Set(entries.map(({ key }) => key));
    expectThat(
      [...stored.keys()].every((key) => known.has(key)),
      'a secret is there that nobody wrote',
    );
    await Promise.all(this.#feeds.map((feed) => feed.end()));
    for (const feed of this.#feeds) {
      const wrong = entries.filter(({ key, changes, ...entry }) => {
        const seen = feed.seen.get(key) ?? 0;
        return seen < changes || seen > changes + ('sent' in entry ? 1 : 0);
      });
      expectThat(
        wrong.length === 0,
        `events of ${wrong.length} secrets are not those of their changes: ${wrong[0]?.key}`,
      );
    }
    this.expectUnbroken();
    await this.#rotating.settled();
    await this.#rotating.expectWhole(this.#rotation);
    const { reads, changes, logins, rotations, refused, cut } = this.answers;
    return `${changes} acknowledged changes, 0 lost, ${this.#unsure.length} of unknown outcome; ${reads} reads, ${logins} logins, ${rotations} rotations; ${refused} answers of 503 or 504, ${cut} cut off`;
  }

  #newEntry(): Entry {
    this.#made += 1;
    return { key: `KEY_${this.#made}`, value: null, changes: 0 };
  }

  #begin(work: Promise<void>): void {
    const running = work.catch((error: Error) => void this.#broken.push(error.message));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** The status of a request; 0 when there was no answer. What may not be is noted. */
  async #ask(what: string, send: () => Promise<Reply>, right: readonly number[] = [200]): Promise<Reply> {
    const [wasDisturbed, before] = [this.#isDisturbed, this.#disturbances];
    const none = (error: Error): Reply => ({ status: NO_ANSWER, headers: {}, body: null, text: error.message });
    const reply = await send().catch(none);
    if (right.includes(reply.status)) return reply;
    const isBorne = wasDisturbed || before !== this.#disturbances;
    if (isBorne && reply.status === NO_ANSWER) this.answers.cut += 1;
    else if (isBorne && (reply.status === 503 || reply.status === 504)) this.answers.refused += 1;
    else this.#broken.push(`${new Date().toISOString()} ${what}: ${reply.status} ${reply.text.slice(0, 300)}`);
    return reply;
  }

  async #step(): Promise<void> {
    const dice = randomInt(100);
    if (dice < SHARE.read) await this.#read();
    else if (dice < SHARE.read + SHARE.list) await this.#list();
    else if (dice < SHARE.read + SHARE.list + SHARE.login) await this.#logIn();
    else await this.#change();
  }

  /** A secret that nobody else asks for meanwhile. */
  #take(): Entry | undefined {
    const at = randomInt(Math.max(1, this.#free.length));
    const last = this.#free.pop();
    if (last === undefined || at === this.#free.length) return last;
    const taken = this.#free[at];
    this.#free[at] = last;
    return taken;
  }

  get #caller(): Caller {
    return this.#admin.at(this.#urls[randomInt(this.#urls.length)] as string);
  }

  get #at(): Record<string, string> {
    return { projectId: this.#project.id, environment: 'dev' };
  }

  async #read(): Promise<void> {
    const entry = this.#take();
    if (entry === undefined) return;
    const path = `/api/v4/secrets/${entry.key}?${new URLSearchParams(this.#at)}`;
    const right = entry.value === null ? 404 : 200;
    const { status, body } = await this.#ask(`a read of ${entry.key}`, () => this.#caller.get(path), [right]);
    this.#free.push(entry);
    if (status !== right) return;
    this.answers.reads += 1;
    if (right === 200 && body.secret.secretValue !== entry.value) this.#broken.push(`${entry.key} has another value`);
  }

  async #list(): Promise<void> {
    const path = `/api/v4/secrets?${new URLSearchParams(this.#at)}&limit=${randomInt(1, 100)}`;
    if ((await this.#ask('a list', () => this.#caller.get(path))).status === 200) this.answers.reads += 1;
  }

  async #logIn(): Promise<void> {
    const path = '/api/v1/auth/universal-auth/login';
    const { status, body } = await this.#ask('a login', () => this.#caller.anonymous.post(path, this.#login));
    if (status !== 200) return;
    const holder = new Caller(this.#caller.url, body.accessToken);
    if ((await this.#ask('its use', () => holder.get('/api/v1/projects'))).status === 200) this.answers.logins += 1;
  }

  async #change(): Promise<void> {
    const entry = this.#take();
    if (entry === undefined) return;
    const path = `/api/v4/secrets/${entry.key}`;
    const sent = entry.value !== null && randomInt(5) === 0 ? null : `value ${randomUUID()}`;
    const method = sent === null ? 'DELETE' : entry.value === null ? 'POST' : 'PATCH';
    const body = { ...this.#at, ...(sent === null ? {} : { secretValue: sent }) };
    const send = (): Promise<Reply> => this.#caller.request({ method, path, body });
    if ((await this.#ask(`${method} of ${entry.key}`, send)).status === 200) {
      this.answers.changes += 1;
      this.#free.push({ key: entry.key, value: sent, changes: entry.changes + 1 });
    } else {
      this.#unsure.push({ ...entry, sent });
      this.#free.push(this.#newEntry());
    }
  }

  /** One that goes on after a kill is answered 409. */
  async #rotate(): Promise<void> {
    const { status } = await this.#ask('a rotation', () => this.#rotating.rotate(this.#rotation), [200, 409]);
    if (status === 200) this.answers.rotations += 1;
  }

  async #stored(): Promise<Map<string, string>> {
    const values = new Map<string, string>();
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/api/v4/secrets?${new URLSearchParams(this.#at)}&limit=1000${from}`;
      const { body } = mustSucceed(await this.#caller.get(path));
      for (const { secretKey, secretValue } of body.secrets) values.set(secretKey, secretValue);
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    return values;
  }
}

/** A machine of the organization that logs in with a client secret. Its tokens end soon. */
async function loginOf({ admin }: Seeded): Promise<Login> {
  const { organization } = await admin.data('query { organization { id } }');
  const made = { name: 'logs in', organizationId: organization.id, role: 'member' };
  const { identity } = mustSucceed(await admin.post('/api/v1/identities', made)).body;
  const path = `/api/v1/auth/universal-auth/identities/${identity.id}`;
  const { body: auth } = mustSucceed(await admin.post(path, { accessTokenTTL: 60, accessTokenMaxTTL: 60 }));
  const { body: secret } = mustSucceed(await admin.post(`${path}/client-secrets`, {}));
  return { clientId: auth.identityUniversalAuth.clientId, clientSecret: secret.clientSecret };
}

/** A reader of the events of a project that continues with its last one whenever its connection ends. */
class Feed {
  /** How many events of each key came. */
  readonly seen = new Map<string, number>();
  readonly broken: string[] = [];
  #caller: Caller;
  readonly #path: string;
  readonly #ids = new Set<string>();
  #stream: EventStreamClient;
  #events = 0;
  #isOver = false;
  readonly #reading: Promise<void>;

  private constructor(caller: Caller, path: string, stream: EventStreamClient) {
    [this.#caller, this.#path, this.#stream] = [caller, path, stream];
    this.#reading = this.#read();
  }

  static async open({ admin, project }: Seeded): Promise<Feed> {
    const path = `/api/v1/events?projectId=${project.id}&kinds=secret`;
    const stream = await EventStreamClient.open(admin, path);
    await stream.find('its beginning', ({ event }) => event === 'opened');
    return new Feed(admin, path, stream);
  }

  /** Continues there when its connection ends. */
  moveTo(url: string): void {
    this.#caller = this.#caller.at(url);
  }

  /** Waits until none has come for a while. */
  async end(): Promise<void> {
    for (let [before, quiet] = [-1, 0]; quiet < QUIET_SECONDS; quiet += 1) {
      if (before !== this.#total()) [before, quiet] = [this.#total(), 0];
      await delay(1_000);
    }
    this.#isOver = true;
    await this.#reading;
  }

  #total(): number {
    return this.#events + this.#stream.events.length;
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      const stream = this.#stream;
      while (!this.#isOver && !stream.isEnded && stream.events.length < EVENTS_AT_ONCE) await delay(200);
      stream.close();
      this.#events += stream.events.length;
      for (const { id, event, data } of stream.events) {
        if (event === 'change') this.#note(id, data.secretKey);
        else if (event !== 'opened') this.broken.push(`an event ${event}`);
      }
      if (!this.#isOver) this.#stream = await this.#again(stream.lastId);
    }
  }

  #note(id: string | null, key: string): void {
    if (id === null || this.#ids.has(id)) this.broken.push(`an event of ${key} came twice`);
    else this.#ids.add(id);
    this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
  }

  async #again(lastId: string | null): Promise<EventStreamClient> {
    const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
    for (;;) {
      const stream = await EventStreamClient.open(this.#caller, this.#path, { headers }).catch(() => null);
      if (stream?.status === 200) return stream;
      stream?.close();
      await delay(500);
    }
  }
}
