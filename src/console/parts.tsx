import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { type CombinedError, useMutation } from 'urql';
import type { Help } from './helps.ts';
import { isPassing, useSession } from './session.tsx';

const DAY_MS = 86_400_000;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const ABSOLUTE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const UNITS = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

export const daysUntil = (time: string): number => (Date.parse(time) - Date.now()) / DAY_MS;
export const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

/** The exact one is in its title. */
const Titled = ({ at, children }: { readonly at: string; readonly children: ReactNode }) => (
  <time dateTime={at} title={ABSOLUTE.format(new Date(at))}>
    {children}
  </time>
);

const unitOf = (distance: number) =>
  UNITS.find(([, size]) => Math.abs(distance) >= size) ?? (['minute', 60_000] as const);

interface Said {
  /** Null: nothing is said. */
  readonly at: string | null;
  readonly before?: string;
  readonly after?: string;
}

/** A time as people say it, with the exact one beside it, and the words around it. */
export function Time({ at, before, after }: Said) {
  if (at === null) return null;
  const distance = Date.parse(at) - Date.now();
  const [unit, size] = unitOf(distance);
  return (
    <>
      {before}
      <Titled at={at}>{RELATIVE.format(Math.round(distance / size), unit)}</Titled>
      {after}
    </>
  );
}

/** A time to the second. */
export const Exact = ({ at }: { readonly at: string }) => <time dateTime={at}>{EXACT.format(new Date(at))}</time>;

export const Day = ({ at }: { readonly at: string }) => <Titled at={at}>{DAY.format(new Date(at))}</Titled>;

/** For how long something is so. */
export function For({ since }: { readonly since: string }) {
  const distance = Date.now() - Date.parse(since);
  const [unit, size] = unitOf(distance);
  const length = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  return <Titled at={since}>for {length.format(Math.max(1, Math.round(distance / size)))}</Titled>;
}

/** `CERTIFICATE_EXPIRED` as `Certificate expired`. */
export const words = (name: string): string => {
  const text = name.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Opens another page of the console, which stays signed in. @param isSame it takes the place of the one that is open */
export function go(path: string, isSame = false): void {
  if (isSame) history.replaceState(history.state, '', path);
  else history.pushState({ from: location.pathname + location.search }, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Ends what was opened above a page, so that the way back does not open it again. */
export const leaveFor = (path: string): void => (history.state?.from === path ? history.back() : go(path, true));

const follow = (changed: () => void) => {
  addEventListener('popstate', changed);
  return () => removeEventListener('popstate', changed);
};

/** The address of the page, as it changes. */
export const useAddress = (): URL => new URL(useSyncExternalStore(follow, () => location.href));

interface Asked {
  /** Name of the document. */
  readonly query: string;
  readonly variables: object | null;
  readonly data?: unknown;
  readonly error?: CombinedError | undefined;
  readonly fetching: boolean;
}

/** The part of what was asked for that a section shows: what the caller may not see is null, and has an error. */
function partOf(
  { data, error }: Asked,
  fields: readonly string[] | undefined,
): { isThere: boolean; failure: CombinedError | undefined } {
  if (fields === undefined)
    return { isThere: data != null, failure: data == null || isPassing(error) ? error : undefined };
  const isThere = data != null && fields.some((field) => (data as Record<string, unknown>)[field] != null);
  const concerns =
    error?.graphQLErrors.some(({ path }) => path === undefined || fields.includes(String(path[0]))) ?? false;
  return { isThere, failure: concerns || (error !== undefined && data == null) ? error : undefined };
}

/** What a section asked for: it waits, shows its parts, or says why there are none. */
export function Section({
  title,
  asked,
  fields,
  children,
  more,
  empty,
}: {
  readonly title: string;
  readonly asked: Asked;
  /** Root fields of the document that it shows; absent: all. */
  readonly fields?: readonly string[];
  readonly more?: ReactNode;
  /** What it says instead where there is nothing to show. */
  readonly empty?: string | false;
  readonly children: () => ReactNode;
}) {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  const { isThere, failure } = partOf(asked, fields);
  return (
    <section className="card" aria-labelledby={id} aria-busy={asked.fetching}>
      <header>
        <h2 id={id}>{title}</h2>
        {more}
        <a className="to-query" href={explorerLink(asked)} target="_blank" rel="noreferrer">
          Open in explorer
        </a>
      </header>
      {isThere && (empty ? <p className="dim">{empty}</p> : children())}
      {failure && <Failure error={failure} fields={fields} />}
      {isPassing(failure) && (
        <p className="dim">It is asked for again by itself{isThere && '; what is shown may be old'}.</p>
      )}
      {!isThere && !failure && <p className="dim">Loading…</p>}
    </section>
  );
}

const explorerLink = ({ query, variables }: Asked): string =>
  `/graphql#document=${query}&variables=${encodeURIComponent(JSON.stringify(variables ?? {}))}`;

/** What the service says of an error: what is missing, and what to do. */
export function Failure({
  error,
  fields,
}: {
  readonly error: CombinedError;
  readonly fields?: readonly string[] | undefined;
}) {
  const messages = error.graphQLErrors
    .filter(({ path }) => fields === undefined || path === undefined || fields.includes(String(path[0])))
    .map(({ message }) => message);
  const what = error.response?.status === 429 ? 'Too many requests.' : 'The service cannot be reached.';
  return (
    <p role="alert" className="failure">
      {messages.length > 0 && !isPassing(error) ? [...new Set(messages)].join(' ') : `${what} Try again in a moment.`}
    </p>
  );
}

/** A button for a change, which is sent when its consequence was confirmed. */
export function Action({
  help: { label, consequence, mutation },
  about,
  input,
}: {
  readonly help: Help;
  /** The name of what it changes. */
  readonly about: string;
  readonly input: object;
}) {
  const [, run] = useMutation(mutation);
  const [isDone, setDone] = useState(false);
  const { changed } = useSession();
  const done = () => {
    setDone(true);
    // Of a job, nobody is told.
    changed();
  };
  return (
    <span>
      <span role="status">{isDone && 'Done '}</span>
      <DialogTrigger onOpenChange={(isOpen) => isOpen && setDone(false)}>
        <Button aria-label={`${label}: ${about}`}>{label}</Button>
        <Confirm title={withName(label, about)} label={label} confirm={() => run({ input })} done={done}>
          <p>{consequence}</p>
        </Confirm>
      </DialogTrigger>
    </span>
  );
}

/** A name can have marks that turn the direction of writing: what is around it stays as it is. */
const withName = (label: string, about: string) => (
  <>
    {label}: <bdi>{about}</bdi>
  </>
);

interface Question {
  readonly title: ReactNode;
  readonly label: string;
  readonly isDisabled?: boolean;
  /** Makes the change. */
  readonly confirm: () => Promise<{ readonly error?: CombinedError | undefined }>;
  /** It was made. */
  readonly done: () => void;
  readonly children: ReactNode;
}

/** Asks whether a change is meant. */
export const Confirm = (question: Question) => (
  <ModalOverlay className="overlay" isDismissable>
    <Modal className="modal">
      <Dialog role="alertdialog">{({ close }) => <Decide {...question} close={close} />}</Dialog>
    </Modal>
  </ModalOverlay>
);

/** What a dialog knows of the change: it is forgotten with the dialog. */
function Decide({ close, ...question }: Question & { readonly close: () => void }) {
  const { title, label, isDisabled = false, confirm, done, children } = question;
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<CombinedError>();
  const decide = async () => {
    setPending(true);
    const { error: failure } = await confirm();
    setPending(false);
    setError(failure);
    if (failure !== undefined) return;
    done();
    close();
  };
  return (
    <>
      <Heading slot="title">{title}?</Heading>
      {children}
      {error && <Failure error={error} />}
      <div className="buttons">
        <Button onPress={close}>Cancel</Button>
        {/* Not as `isPending`, which is announced by the button: that is gone when the change is made. */}
        <Button className="primary" isDisabled={isDisabled} onPress={() => void (isPending || decide())}>
          {isPending ? 'Working…' : label}
        </Button>
      </div>
    </>
  );
}

interface Held {
  readonly identity: { readonly name: string } | null;
  readonly user: { readonly username: string } | null;
}
/** Whose a token is. */
export const holderOf = ({ identity, user }: Held): string =>
  identity?.name ?? user?.username ?? 'somebody you may not see';

/** What is known of something, by name. What is null is left out. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts">
      {Object.entries(facts)
        .filter(([, fact]) => fact != null)
        .map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
    </dl>
  );
}

/** What was chosen elsewhere on the page: a small screen goes there. */
export function Chosen({ isChosen = true, children }: { readonly isChosen?: boolean; readonly children: ReactNode }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { top = 0 } = element.current?.getBoundingClientRect() ?? {};
    if (isChosen && top > innerHeight / 2) element.current?.scrollIntoView();
  }, [isChosen]);
  return (
    <div className="stack" ref={element}>
      {children}
    </div>
  );
}
