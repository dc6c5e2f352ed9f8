import type { ResultOf } from 'gql.tada';
import { type ComponentProps, type FormEvent, useMemo, useState } from 'react';
import { Button, Dialog, Form, Heading, Input, Label, Modal, ModalOverlay, TextField } from 'react-aria-components';
import { Events as EventsDocument, Reads as ReadsDocument, SecretsByKey } from './documents/audit.ts';
import { Choice, List, Pick, Search } from './lists.tsx';
import { counted, Exact, Facts, Failure, inDays, Section, words } from './parts.tsx';
import { type Pages, useLive, useMembers, usePages, useProjects, useSession } from './session.tsx';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The audit trail: who did what to what, who read a secret, and the whole as a file. */
export default function Audit({ rest: [about, id] }: { readonly rest: readonly string[] }) {
  return (
    <>
      <h1>Audit</h1>
      {about === 'secret' ? (
        <Reads key={id} id={id ?? ''} />
      ) : (
        <>
          <Trail
            key={`${about} ${id}`}
            actorId={about === 'by' ? (id ?? '') : ''}
            subjectId={about === 'of' ? (id ?? '') : ''}
          />
          <Reads id="" />
          <Export />
        </>
      )}
    </>
  );
}

const ANY = { id: '', name: 'Any' };
const CLASSES = [ANY, ...['CHANGE', 'VALUE_READ', 'BROWSE', 'DENIAL'].map((id) => ({ id, name: words(id) }))];
const OUTCOMES = [ANY, ...['ALLOWED', 'DENIED'].map((id) => ({ id, name: words(id) }))];
const BETWEEN = 'between';
const TIMES = [
  { id: '', name: 'Any time' },
  { id: '0.042', name: 'Last hour' },
  { id: '1', name: 'Last day' },
  { id: '7', name: 'Last 7 days' },
  { id: '30', name: 'Last 30 days' },
  { id: BETWEEN, name: 'Between…' },
];
/** Whom the service itself counts as. */
const SYSTEM = 'system';

const NOTHING = { class: '', outcome: '', when: '', from: '', to: '', projectId: '', actions: '', requestId: '' };
type Wanted = typeof NOTHING & { readonly actorId: string; readonly subjectId: string };

/** What is asked for, or null for a field that asks for nothing. */
function variablesOf({ when, from, to, actions, actorId, ...wanted }: Wanted) {
  const time = (local: string) => (when === BETWEEN && local !== '' ? new Date(local).toISOString() : null);
  const given = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, value.trim() || null]));
  const names = actions.split(/[\s,]+/).filter((name) => name !== '');
  return {
    ...given,
    actorId: actorId === SYSTEM ? null : actorId || null,
    actorKind: actorId === SYSTEM ? ('SYSTEM' as const) : null,
    actions: names.length > 0 ? names : null,
    from: when === '' || when === BETWEEN ? time(from) : inDays(-Number(when)),
    to: time(to),
  };
}

function Trail(given: { readonly actorId: string; readonly subjectId: string }) {
  const [wanted, setWanted] = useState<Wanted>({ ...NOTHING, ...given });
  const [variables, setVariables] = useState(() => variablesOf({ ...NOTHING, ...given }));
  const members = useMembers();
  const projects = useProjects();
  const events = usePages(EventsDocument, variables, ({ auditEvents }) => auditEvents);
  const people = useMemo(() => {
    const named = Map.groupBy(members.items, ({ name }) => name);
    const all = members.items.map(({ memberId, name }) => ({
      id: memberId,
      name: named.get(name)?.length === 1 ? name : `${name} (${memberId.slice(0, 8)})`,
    }));
    return [{ id: SYSTEM, name: 'The service itself' }, ...all];
  }, [members.items]);
  const set = (name: keyof Wanted) => (value: string) => setWanted((before) => ({ ...before, [name]: value }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setVariables(variablesOf(wanted));
    // Who asks for the same again wants what has happened since.
    events.again();
  };
  return (
    <Section title="Trail" asked={{ ...events, data: true }}>
      {() => (
        <>
          <Form className="fields" onSubmit={submit}>
            <Pick label="Who" value={wanted.actorId} choices={people} change={set('actorId')} />
            <Field label="Action" value={wanted.actions} change={set('actions')} placeholder="secret:update" />
            <Choice label="Kind" value={wanted.class} choices={CLASSES} change={set('class')} />
            <Choice label="Outcome" value={wanted.outcome} choices={OUTCOMES} change={set('outcome')} />
            <Choice
              label="Project"
              value={wanted.projectId}
              choices={[ANY, ...projects.items]}
              change={set('projectId')}
            />
            <Choice label="When" value={wanted.when} choices={TIMES} change={set('when')} />
            {wanted.when === BETWEEN && (
              <>
                <Field label="From" type="datetime-local" value={wanted.from} change={set('from')} />
                <Field label="To" type="datetime-local" value={wanted.to} change={set('to')} />
              </>
            )}
            <Field label="Subject" value={wanted.subjectId} change={set('subjectId')} placeholder="ID" />
            <Field label="Request" value={wanted.requestId} change={set('requestId')} placeholder="ID" />
            <Button type="submit" className="primary">
              Search
            </Button>
          </Form>
          <EventList label="Events" pages={events} />
        </>
      )}
    </Section>
  );
}

function Field({
  label,
  value,
  change,
  placeholder,
  type = 'text',
}: ComponentProps<typeof Search> & { readonly type?: string }) {
  return (
    <TextField className="field" value={value} onChange={change} type={type}>
      <Label>{label}</Label>
      <Input placeholder={placeholder} spellCheck="false" />
    </TextField>
  );
}

type Event = NonNullable<ResultOf<typeof EventsDocument>['auditEvents']>['nodes'][number];

const actorOf = ({ actorKind, user, identity, actorId }: Event) =>
  actorKind === 'SYSTEM' ? 'The service itself' : (user?.username ?? identity?.name ?? actorId);

/** Events as far as they were asked for; each opens. */
function EventList({ label, pages }: { readonly label: string; readonly pages: Pages<Event> }) {
  const [opened, setOpened] = useState<Event | null>(null);
  const { items, data, fetching, next, more, error } = pages;
  return (
    <>
      {error && <Failure error={error} />}
      <p className="dim" aria-live="polite">
        {data === null && fetching && 'Loading…'}
        {data !== null && `${counted(items.length, 'event')}${next === null ? '' : ', and there may be more'}`}
      </p>
      <List
        label={label}
        items={items.map((event) => ({ ...event, id: event.eventId }))}
        text={(event) => `${event.action} by ${actorOf(event)}`}
        open={setOpened}
        title={(event) => (
          <>
            {event.outcome === 'DENIED' && <span className="failure">Denied: </span>}
            <strong>{event.action}</strong> by <bdi>{actorOf(event)}</bdi>
          </>
        )}
        detail={(event) => (
          <>
            <Exact at={event.occurredAt} />
            {event.project && <span> · {event.project.name}</span>}
            {event.address && ` · ${event.address}`}
            {event.disclosedSecrets && ` · ${counted(event.disclosedSecrets.count, ' value')} read`}
          </>
        )}
      />
      {next !== null && (
        <Button className="more" onPress={() => fetching || more()}>
          {fetching ? 'Loading…' : 'Load more'}
        </Button>
      )}
      <ModalOverlay className="overlay" isDismissable isOpen={opened !== null} onOpenChange={() => setOpened(null)}>
        <Modal className="modal wide">
          <Dialog>{opened && <Details event={opened} close={() => setOpened(null)} />}</Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}

function Details({ event, close }: { readonly event: Event; readonly close: () => void }) {
  const { subjectId, disclosedSecrets, facts } = event;
  const who = actorOf(event);
  return (
    <>
      <Heading slot="title">{event.action}</Heading>
      <Facts
        facts={{
          When: <Exact at={event.occurredAt} />,
          Who: event.actorKind === 'SYSTEM' ? who : <a href={`/console/access/${event.actorId}`}>{who}</a>,
          Outcome: words(event.outcome),
          Kind: words(event.class),
          Project: event.project && <a href={`/console/projects/${event.project.id}`}>{event.project.name}</a>,
          Subject: subjectId && <a href={`/console/audit/of/${subjectId}`}>{subjectId}</a>,
          Request: event.requestId,
          Token: event.tokenId,
          Address: event.address,
          Program: event.userAgent,
        }}
      />
      <h3>Facts</h3>
      {facts.length === 0 ? (
        <p className="dim">None.</p>
      ) : (
        <Facts facts={Object.fromEntries(facts.map((fact) => [fact.name, factText(fact)]))} />
      )}
      {disclosedSecrets && (
        <>
          <h3>{counted(disclosedSecrets.count, 'value')} read</h3>
          <ul className="revoked">
            {disclosedSecrets.ids.map((id) => (
              <li key={id}>
                <a href={`/console/audit/secret/${id}`}>{id}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="buttons">
        <Button onPress={close}>Close</Button>
      </div>
    </>
  );
}

const factText = ({ stringValue, numberValue, booleanValue, listValue }: Event['facts'][number]): string =>
  listValue?.join(', ') ?? String(stringValue ?? numberValue ?? booleanValue ?? 'nothing');

/** Who read a secret, which is found by its key or its ID. */
function Reads({ id }: { readonly id: string }) {
  const [text, setText] = useState('');
  const [key, setKey] = useState('');
  const [chosen, choose] = useState(id);
  const found = useLive(SecretsByKey, { key }, key === '');
  const hits = found.data?.searchSecrets?.nodes ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (ID.test(wanted)) choose(wanted);
    else setKey(wanted);
  };
  return (
    <>
      <Section
        title="Who read a secret"
        asked={key === '' ? { ...found, data: { searchSecrets: [] } } : found}
        fields={['searchSecrets']}
      >
        {() => (
          <>
            <Form className="fields" onSubmit={submit}>
              <Search label="Key or ID" value={text} change={setText} placeholder="DATABASE_URL" />
              <Button type="submit">Find</Button>
            </Form>
            {key !== '' && <p className="dim">{counted(hits.length, 'secret')} found</p>}
            <List
              label="Secrets"
              items={hits.map(({ secret, project }) => ({ ...secret, project }))}
              text={({ secretKey }) => secretKey}
              open={(secret) => choose(secret.id)}
              current={chosen}
              detail={({ environmentSlug, secretPath, project }) =>
                `${project?.name} · ${environmentSlug} · ${secretPath}`
              }
            />
          </>
        )}
      </Section>
      {chosen !== '' && <ReadsOf id={chosen} />}
    </>
  );
}

function ReadsOf({ id }: { readonly id: string }) {
  const reads = usePages(ReadsDocument, { id }, ({ secret }) => secret?.reads);
  const secret = reads.data?.secret;
  return (
    <Section title={secret ? `Reads of ${secret.secretKey}` : 'Reads'} asked={reads}>
      {() => (
        <>
          {secret && (
            <p>
              <a href={`/console/projects/${secret.project?.id}`}>{secret.project?.name}</a> · {secret.environmentSlug}{' '}
              · {secret.secretPath} · <a href={`/console/audit/of/${id}`}>its changes</a>
            </p>
          )}
          <EventList label="Reads" pages={reads} />
        </>
      )}
    </Section>
  );
}

/** The trail as a file: what checkpoints sign, so that others can verify it. */
function Export() {
  const { get } = useSession();
  const projects = useProjects();
  const [projectId, setProject] = useState('');
  const [isPending, setPending] = useState(false);
  const [outcome, setOutcome] = useState('');
  const save = async () => {
    setPending(true);
    setOutcome('');
    setOutcome(await saveTrail(get, projectId).catch(() => 'The connection broke off. Export again.'));
    setPending(false);
  };
  return (
    <section className="card" aria-labelledby="section-export">
      <header>
        <h2 id="section-export">Export</h2>
        <a className="to-query" href="/guides/audit">
          How to verify it
        </a>
      </header>
      <p className="dim">All events, oldest first, as lines of JSON. The export itself is an event.</p>
      <div className="fields">
        <Choice
          label="Events of"
          value={projectId}
          choices={[{ id: '', name: 'The organization' }, ...projects.items]}
          change={setProject}
        />
        <Button isPending={isPending} onPress={() => void save()}>
          {isPending ? 'Exporting…' : 'Export'}
        </Button>
      </div>
      <p role="status">{outcome}</p>
    </section>
  );
}

const LAST_LINE_BYTES = 8_192;

/** @returns how it ended */
async function saveTrail(get: (path: string) => Promise<Response>, projectId: string): Promise<string> {
  const parts: Blob[] = [];
  let ended = '';
  for (let after: string | undefined; ended === ''; ) {
    const query = new URLSearchParams({ ...(projectId && { projectId }), ...(after && { after }) });
    const reply = await get(`/api/v1/audit-events/export?${query}`);
    if (!reply.ok) return ((await reply.json()) as { message: string }).message;
    const part = await reply.blob();
    parts.push(part);
    const tail = await part.slice(-LAST_LINE_BYTES).text();
    // A service that restarts ends an export behind a cursor, from where it goes on.
    const last = JSON.parse(tail.trimEnd().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;
    if (last.type === 'cursor' && last.isEnd === false) after = String(last.cursor);
    else
      ended =
        last.type === 'cursor'
          ? 'The file has all events.'
          : `The export ended early: ${last.code ?? 'the connection broke off'}.`;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts));
  link.download = `audit-trail-${new Date().toISOString().slice(0, 10)}.ndjson`;
  link.click();
  URL.revokeObjectURL(link.href);
  return ended;
}
