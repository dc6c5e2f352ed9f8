import { cacheExchange } from '@urql/exchange-graphcache';
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button, FieldError, Form, Input, Label, TextField } from 'react-aria-components';
import {
  type AnyVariables,
  Client,
  CombinedError,
  fetchExchange,
  getOperationName,
  Provider,
  type TypedDocumentNode,
  type UseQueryState,
  useClient,
  useQuery,
} from 'urql';
import { Members, Projects } from './documents/access.ts';

/** IDs of the documents, by the names of their operations: made with the program. */
declare const DOCUMENT_IDS: Readonly<Record<string, string>>;

/** Changes that come in a row are looked at once. */
const PAUSE_MS = 2_000;
const AGAIN_MS = 5_000;
const LONGEST_MS = 600_000;
const TICK_MS = 500;
/** Heartbeats come each 15 seconds: a stream without them is dead, or something between holds it back. */
const SILENT_MS = 40_000;

/** Each `generation` asks for everything that is shown again, each of `retries` for what could not be answered. */
const NO_TURNS = { generation: 0, retries: 0 };
const Turns = createContext(NO_TURNS);

const isPassingStatus = (status: number) => status === 429 || status >= 500;
/** It could not be answered at the moment, which says nothing of what was asked for. */
export const isPassing = (error: CombinedError | undefined): boolean =>
  error?.response === undefined ? error?.networkError !== undefined : isPassingStatus(error.response.status);

/** Until when to wait after so many failures in a row: longer each time, and as long as the reply wants. */
function pauseAfter(failures: number, reply?: Response): number {
  const wanted = 1_000 * (Number(reply?.headers.get('retry-after')) || 0);
  return Date.now() + Math.min(Math.max(wanted, Math.min(AGAIN_MS * 2 ** failures, 60_000)), LONGEST_MS);
}

/** Asks, and knows when to ask again: soon after a change; after failures later, and only for what failed. */
function paced(ask: typeof fetch) {
  const known = { changedAt: Number.POSITIVE_INFINITY, failures: 0, pausedUntil: 0 };
  const send: typeof fetch = async (address, init) => {
    const reply = await ask(address, init).catch((error: Error) => error);
    const answer = reply instanceof Response ? reply : undefined;
    const isPassed = answer ? !isPassingStatus(answer.status) : init?.signal?.aborted;
    // Those that were asked at once count once.
    if (known.pausedUntil === 0) known.failures = isPassed ? 0 : known.failures + 1;
    if (!isPassed) known.pausedUntil = Math.max(known.pausedUntil, pauseAfter(known.failures - 1, answer));
    if (answer) return answer;
    throw reply;
  };
  const changed = () => {
    known.changedAt = Math.min(known.changedAt, Date.now() + PAUSE_MS);
  };
  /** What it is time for, added to what it was time for before. */
  const next = (before: typeof NO_TURNS): typeof NO_TURNS => {
    const now = Date.now();
    if (document.hidden || now < known.pausedUntil) return before;
    const [isFailed, isChanged] = [known.pausedUntil > 0, now >= known.changedAt];
    if (!isFailed && !isChanged) return before;
    known.pausedUntil = 0;
    if (isChanged) known.changedAt = Number.POSITIVE_INFINITY;
    return { generation: before.generation + Number(isChanged), retries: before.retries + Number(isFailed) };
  };
  return { send, changed, next };
}

interface Signed {
  readonly signOut: () => void;
  /** Asks the REST API for what GraphQL has not: files. */
  readonly get: (path: string) => Promise<Response>;
  /** Has what is shown asked for again. */
  readonly changed: () => void;
  /** Asks the service alone: what it answers is kept nowhere. */
  readonly uncached: Client | null;
}
const SignedIn = createContext<Signed>({
  signOut: () => undefined,
  changed: () => undefined,
  uncached: null,
  get: () => Promise.reject(new Error('signed out')),
});
export const useSession = (): Signed => useContext(SignedIn);

/** What is asked for within is not kept when it is no longer shown. */
export const Uncached = ({ children }: { readonly children: ReactNode }) => {
  const { uncached } = useSession();
  return uncached && <Provider value={uncached}>{children}</Provider>;
};

/** Asks for a token, which stays in the memory of this page: a reload forgets it. */
export function Session({ children }: { readonly children: ReactNode }) {
  const [token, setToken] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const session = useMemo(() => {
    if (token === null) return null;
    const end = new AbortController();
    const send = senderOf(token, (message) => {
      // An answer to a former session says nothing of the one that is open.
      if (end.signal.aborted) return;
      setToken(null);
      setRefusal(message);
    });
    const headers = { authorization: `Bearer ${token}` };
    const get = (path: string) => fetch(path, { headers, credentials: 'omit', signal: end.signal });
    const pace = paced(send);
    return { end, send, get, pace, changed: pace.changed, ...clientsOf(pace.send) };
  }, [token]);
  useEffect(() => () => session?.end.abort(), [session]);
  if (session === null) {
    const enter = (given: string) => {
      setRefusal(null);
      setToken(given);
    };
    return <SignIn refusal={refusal} enter={enter} />;
  }
  return (
    <SignedIn.Provider value={{ ...session, signOut: () => setToken(null) }}>
      <Provider value={session.cached}>
        <Live {...session}>{children}</Live>
      </Provider>
    </SignedIn.Provider>
  );
}

/** Sends the document of an operation by its ID, with the token. @param refused the token is no longer good */
const senderOf =
  (token: string, refused: (message: string) => void): typeof fetch =>
  async (address, init) => {
    const { operationName, variables } = JSON.parse(String(init?.body)) as {
      operationName: string;
      variables?: object;
    };
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    const body = JSON.stringify({ documentId: DOCUMENT_IDS[operationName], operationName, variables });
    const reply = await fetch(address, { ...init, headers, body, credentials: 'omit' });
    if (reply.status === 401) {
      // Something between may have refused it, in other words.
      const said = (await reply
        .clone()
        .json()
        .catch(() => null)) as { errors?: { message: string }[] } | null;
      refused(said?.errors?.[0]?.message ?? 'The token was refused.');
    }
    return reply;
  };

function clientsOf(send: typeof fetch): Record<'cached' | 'uncached', Client> {
  const options = { url: '/graphql', fetch: send, preferGetMethod: false } as const;
  return {
    cached: new Client({
      ...options,
      requestPolicy: 'cache-and-network',
      exchanges: [cacheExchange({}), fetchExchange],
    }),
    uncached: new Client({ ...options, requestPolicy: 'network-only', exchanges: [fetchExchange] }),
  };
}

/** Follows what changes, and asks again for what is shown. */
function Live({ pace, send, children }: { send: typeof fetch; pace: ReturnType<typeof paced>; children: ReactNode }) {
  const [turns, setTurns] = useState(NO_TURNS);
  // Before the effects of the pages, which ask for what they show.
  useLayoutEffect(() => {
    const end = new AbortController();
    let now = NO_TURNS;
    const timer = setInterval(() => {
      now = pace.next(now);
      setTurns(now);
    }, TICK_MS);
    void follow(send, pace.changed, end.signal);
    return () => {
      end.abort();
      clearInterval(timer);
    };
  }, [send, pace]);
  return <Turns.Provider value={turns}>{children}</Turns.Provider>;
}

const CHANGES = {
  method: 'POST',
  headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
  body: JSON.stringify({ operationName: 'Changes' }),
};

/**
 * Reads the stream of changes, and begins again when it ends: the network, or the service, goes away now and then. A browser has few
 * connections to a service: hidden pages take none.
 */
async function follow(send: typeof fetch, changed: () => void, ended: AbortSignal): Promise<void> {
  for (let failures = 0, isFirst = true; !ended.aborted; isFirst = false) {
    const stop = new AbortController();
    const hide = () => document.hidden && stop.abort();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), SILENT_MS);
    };
    document.addEventListener('visibilitychange', hide);
    let reply: Response | undefined;
    try {
      heard();
      hide();
      reply = await send('/graphql/stream', { ...CHANGES, signal: AbortSignal.any([ended, stop.signal]) });
      const reader = reply.ok ? reply.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined;
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        heard();
        // Nothing was asked for before the first one.
        const news = isFirst ? part.value.replace(/event:.*\n.*"OPENED".*/, '') : part.value;
        // Heartbeats are colons.
        if (/[^:\n]/.test(news)) changed();
      }
    } catch {
      // As if it had ended.
    }
    clearTimeout(silence);
    document.removeEventListener('visibilitychange', hide);
    failures = reply?.ok ? 0 : failures + 1;
    const until = pauseAfter(Math.max(0, failures - 1), reply);
    while (!ended.aborted && (document.hidden || (Date.now() < until && !stop.signal.aborted)))
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    // What changed meanwhile is not told.
    changed();
  }
}

/** What was asked for. */
interface Request<Variables> {
  /** The name of the document. */
  readonly query: string;
  readonly variables: Variables;
}

/** The result of a query, again after each change. While it cannot be had, it stays as it was. */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  pause = false,
): Pick<UseQueryState<Data, Variables>, 'data' | 'error' | 'fetching'> & Request<Variables> {
  const turns = useContext(Turns);
  const seen = useRef(turns);
  const [{ data, error, fetching }, again] = useQuery({ query, variables, pause });
  const isBroken = isPassing(error);
  useEffect(() => {
    const { generation } = seen.current;
    if (seen.current === turns || pause) return;
    seen.current = turns;
    if (isBroken || generation !== turns.generation) again({ requestPolicy: 'network-only' });
  }, [turns, again, pause, isBroken]);
  const text = JSON.stringify(variables);
  const last = useRef({ text, data });
  if (data != null || (error && !isBroken) || last.current.text !== text) last.current = { text, data };
  return { data: last.current.data, error, fetching, query: getOperationName(query) ?? '', variables };
}

interface Page<Item> {
  readonly nodes: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
interface Loaded<Item, Data> {
  /** What the list is of, and since which change. */
  readonly of: { readonly variables: object | null };
  readonly items: readonly Item[];
  readonly pages: number;
  /** Cursor of the next page; null after the last one, and before the first. */
  readonly next: string | null;
  readonly error: CombinedError | undefined;
  /** What came with the last page. Null until the first one is here. */
  readonly data: Data | null;
}
export interface Pages<Item, Data = unknown>
  extends Request<object | null>,
    Pick<Loaded<Item, Data>, 'items' | 'data' | 'next' | 'error'> {
  readonly fetching: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

/**
 * A list in pages: the first, and more as they are asked for; or all of them. What is live is asked for again after each change, and
 * stays as it was meanwhile.
 *
 * @param given the variables; null asks for nothing
 * @param pageOf the list in what is answered
 */
export function usePages<Data, Variables extends AnyVariables, Item>(
  query: TypedDocumentNode<Data, Variables>,
  given: Omit<Variables, 'after'> | null,
  pageOf: (data: Data) => Page<Item> | null | undefined,
  isWhole = false,
  isLive = isWhole,
): Pages<Item, Data> {
  const client = useClient();
  const { generation, retries } = useContext(Turns);
  const listIn = useRef(pageOf);
  const text = JSON.stringify(given);
  const variables = useMemo(() => JSON.parse(text) as typeof given, [text]);
  const [since, setSince] = useState(generation);
  const [round, setRound] = useState(0);
  const of = useMemo(() => ({ client, query, variables, since, round }), [client, query, variables, since, round]);
  const [loaded, setLoaded] = useState<Loaded<Item, Data> | null>(null);
  const current = useMemo<Loaded<Item, Data>>(
    () => (loaded?.of === of ? loaded : { of, items: [], pages: 0, next: null, error: undefined, data: null }),
    [loaded, of],
  );
  const [asked, ask] = useState({ variables, pages: 1 });
  const wanted = isWhole ? Number.POSITIVE_INFINITY : asked.variables === variables ? asked.pages : 1;
  const isLast = current.pages > 0 && current.next === null;
  const isDone = variables === null || isLast || current.error !== undefined || current.pages >= wanted;
  useEffect(() => {
    if (isDone) return;
    let isLeft = false;
    const page = { ...variables, after: current.next } as unknown as Variables;
    const reply = client.query(query, page, { requestPolicy: 'network-only' }).toPromise();
    void reply.then(({ data, error }) => {
      if (isLeft) return;
      const found = data == null ? null : listIn.current(data);
      if (data == null || found == null) return setLoaded({ ...current, error: error ?? new CombinedError({}) });
      const next = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : null;
      const items = [...current.items, ...found.nodes];
      setLoaded({ of, items, pages: current.pages + 1, next, error: undefined, data });
    });
    return () => {
      isLeft = true;
    };
  }, [client, query, variables, of, current, isDone]);
  // What has begun is ended first: where much changes, it would never be.
  useEffect(() => {
    if (isLive && isDone) setSince(generation);
  }, [isLive, isDone, generation]);
  const retried = useRef(retries);
  useEffect(() => {
    if (retried.current === retries) return;
    retried.current = retries;
    setLoaded((before) => (before && isPassing(before.error) ? { ...before, error: undefined } : before));
  }, [retries]);
  const shown = useRef(current);
  const { data: known, items: before, of: beforeOf } = shown.current;
  const isBehind = current.items.length < before.length || (current.data === null && known !== null);
  if (beforeOf.variables !== variables || !isBehind || (isDone && !isPassing(current.error))) shown.current = current;
  const { items, next, data } = shown.current;
  const more = () => {
    ask({ variables, pages: current.pages + 1 });
    if (current.error !== undefined) setLoaded({ ...current, error: undefined });
  };
  const again = () => setRound((before) => before + 1);
  const answer = { items, next, data, error: current.error, fetching: !isDone };
  return { query: getOperationName(query) ?? '', variables, ...answer, more, again };
}

/** All projects that the caller sees. */
export const useProjects = (isLive = true) => usePages(Projects, {}, ({ projects }) => projects, true, isLive);

/** All people and machines that the caller sees. */
export const useMembers = () => usePages(Members, {}, ({ organizationMembers }) => organizationMembers, true);

function SignIn({ refusal, enter }: { readonly refusal: string | null; readonly enter: (token: string) => void }) {
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    enter(String(new FormData(event.currentTarget).get('token')).trim());
  };
  return (
    <main className="sign-in">
      <h1>Sign in</h1>
      <Form onSubmit={submit}>
        <TextField
          name="token"
          type="password"
          isRequired
          autoFocus
          autoComplete="one-time-code"
          isInvalid={refusal !== null || undefined}
        >
          <Label>Access token</Label>
          <Input placeholder="srt_…" spellCheck="false" />
          <FieldError>{refusal ?? 'Enter a token.'}</FieldError>
        </TextField>
        <Button type="submit" className="primary">
          Sign in
        </Button>
      </Form>
      <p className="dim">
        The token stays in the memory of this page: a reload forgets it. One that only reads is enough for all but
        actions. <a href="/guides/access#a-token-for-the-console">How to get a token that ends in an hour</a>
      </p>
    </main>
  );
}
