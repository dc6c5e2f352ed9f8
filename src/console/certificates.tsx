import type { ResultOf } from 'gql.tada';
import { useEffect, useMemo, useState } from 'react';
import { Tree, TreeItem } from 'react-aria-components';
import * as documents from './documents/certificates.ts';
import { HELPS } from './helps.ts';
import { Branch, Choice, Grid, List, Search } from './lists.tsx';
import {
  Action,
  Chosen,
  counted,
  Day,
  daysUntil,
  Exact,
  Facts,
  Failure,
  inDays,
  Section,
  Time,
  words,
} from './parts.tsx';
import { useLive, usePages, useProjects } from './session.tsx';

/** Authorities, certificates and alerts of a project. */
export default function Certificates({ rest: [given, id] }: { readonly rest: readonly string[] }) {
  const projects = useProjects();
  const withThem = projects.items.filter(({ type, id: each }) => type === 'CERT_MANAGER' || each === given);
  const [chosen, choose] = useState('');
  const projectId = given || chosen || withThem[0]?.id;
  return (
    <>
      <h1>Certificates</h1>
      <div className="wide fields">
        {projects.error && <Failure error={projects.error} />}
        {withThem.length > 0 && projectId !== undefined && (
          <Choice label="Project" value={projectId} choices={withThem} change={choose} />
        )}
        {projects.data !== null && projectId === undefined && <p>You see no project for certificates.</p>}
      </div>
      {projectId !== undefined && <OfProject key={projectId} projectId={projectId} id={id} />}
    </>
  );
}

function OfProject({ projectId, id }: { readonly projectId: string; readonly id: string | undefined }) {
  const [authorityId, setAuthority] = useState<string | null>(null);
  return (
    <div className="split">
      <div className="stack">
        <Authorities projectId={projectId} chosen={authorityId} choose={setAuthority} />
        <Alerts projectId={projectId} />
      </div>
      <div className="stack">
        <Table projectId={projectId} authorityId={authorityId} current={id} />
        {id !== undefined && (
          <Chosen key={id}>
            <Details projectId={projectId} id={id} />
          </Chosen>
        )}
      </div>
    </div>
  );
}

type Authority = NonNullable<ResultOf<typeof documents.Authorities>['certificateAuthorities']>['nodes'][number];

function Authorities({
  projectId,
  chosen,
  choose,
}: {
  readonly projectId: string;
  readonly chosen: string | null;
  readonly choose: (id: string | null) => void;
}) {
  const asked = usePages(documents.Authorities, { projectId }, (data) => data.certificateAuthorities, true);
  const known = new Set(asked.items.map(({ id }) => id));
  const below = Map.groupBy(asked.items, ({ parentId }) =>
    parentId !== null && known.has(parentId) ? parentId : null,
  );
  const branch = (authority: Authority) => (
    <TreeItem key={authority.id} id={authority.id} textValue={authority.name}>
      <Branch below={below.has(authority.id) && `Authorities below ${authority.name}`}>
        <div className="name">
          {authority.name}
          <small>
            {words(authority.kind)} · {authority.revokedAt ? 'Revoked' : words(authority.status)}
            {authority.notAfter && <> · {ends(authority.notAfter)}</>}
          </small>
        </div>
      </Branch>
      {below.get(authority.id)?.map(branch)}
    </TreeItem>
  );
  return (
    <Section title="Authorities" asked={asked} empty={asked.items.length === 0 && 'No authority.'}>
      {() => (
        <>
          <p className="dim">Select one to see what it issued.</p>
          <Tree
            aria-label="Authorities"
            className="tree"
            selectionMode="single"
            selectedKeys={chosen === null ? [] : [chosen]}
            onSelectionChange={(keys) => choose(keys === 'all' ? null : String([...keys][0] ?? '') || null)}
            defaultExpandedKeys={known}
          >
            {below.get(null)?.map(branch)}
          </Tree>
        </>
      )}
    </Section>
  );
}

const ends = (at: string) => <Time before={daysUntil(at) < 0 ? 'ended ' : 'ends '} at={at} />;

const STATUSES = [{ id: '', name: 'Any' }, ...['ACTIVE', 'REVOKED'].map((id) => ({ id, name: words(id) }))];
const ENDS = [
  { id: '', name: 'Any time', filter: () => ({}) },
  { id: '7', name: 'Within 7 days', filter: () => ({ expiresAfter: inDays(0), expiresBefore: inDays(7) }) },
  { id: '30', name: 'Within 30 days', filter: () => ({ expiresAfter: inDays(0), expiresBefore: inDays(30) }) },
  { id: '90', name: 'Within 90 days', filter: () => ({ expiresAfter: inDays(0), expiresBefore: inDays(90) }) },
  { id: 'valid', name: 'Not yet', filter: () => ({ expiresAfter: inDays(0) }) },
  { id: 'over', name: 'In the past', filter: () => ({ expiresBefore: inDays(0) }) },
];

type Row = NonNullable<ResultOf<typeof documents.Certificates>['certificates']>['nodes'][number];

const stateOf = ({ status, notAfter, renewedBy }: Row) =>
  status === 'REVOKED' ? 'Revoked' : daysUntil(notAfter) < 0 ? 'Ended' : renewedBy ? 'Renewed' : 'Active';

const COLUMNS = [
  {
    name: 'Certificate',
    width: 210,
    cell: ({ commonName, sans }: Row) => (
      <>
        {commonName}
        <small>{sans.join(', ')}</small>
      </>
    ),
  },
  { name: 'Days left', width: 150, cell: (row: Row) => <Left row={row} /> },
  { name: 'Status', width: 100, cell: stateOf },
  { name: 'Ends', width: 120, cell: ({ notAfter }: Row) => <Day at={notAfter} /> },
];

/** How much of the life of a certificate is left. */
function Left({ row: { notBefore, notAfter } }: { readonly row: Pick<Row, 'notBefore' | 'notAfter'> }) {
  const left = daysUntil(notAfter);
  const share = Math.max(0, Math.min(1, left / (left - daysUntil(notBefore))));
  return (
    <span className="life" data-urgency={left < 7 ? 'critical' : left < 30 ? 'high' : undefined}>
      {left < 0 ? `${Math.ceil(-left)} days over` : counted(Math.floor(left), 'day')}
      <span aria-hidden="true" className="share">
        <span className="left" style={{ width: `${100 * share}%` }} />
      </span>
    </span>
  );
}

const TYPING_MS = 300;

/** A value when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(settle, TYPING_MS, value);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Table({
  projectId,
  authorityId,
  current,
}: {
  readonly projectId: string;
  readonly authorityId: string | null;
  readonly current: string | undefined;
}) {
  const [text, setText] = useState('');
  const [status, setStatus] = useState('');
  const [end, setEnd] = useState('');
  const search = useSettled(text.trim());
  const variables = useMemo(
    () => ({
      ...{ projectId, authorityId, expiresAfter: null, expiresBefore: null },
      search: search || null,
      status: status === 'ACTIVE' || status === 'REVOKED' ? (status as 'ACTIVE' | 'REVOKED') : null,
      ...ENDS.find(({ id }) => id === end)?.filter(),
    }),
    [projectId, authorityId, search, status, end],
  );
  const asked = usePages(documents.Certificates, variables, ({ certificates }) => certificates, true);
  return (
    <Section title="Certificates" asked={{ ...asked, data: asked.error ? asked.data : true }}>
      {() => (
        <>
          <div className="fields">
            <Search label="Name" value={text} change={setText} placeholder="shop.example.com" />
            <Choice label="Status" value={status} choices={STATUSES} change={setStatus} />
            <Choice label="Ends" value={end} choices={ENDS} change={setEnd} />
          </div>
          <p className="dim" aria-live="polite">
            {asked.data === null ? 'Loading…' : counted(asked.items.length, 'certificate')}
            {authorityId !== null && ' of the selected authority'}, soonest end first
          </p>
          {asked.items.length > 0 && (
            <Grid
              label="Certificates"
              columns={COLUMNS}
              items={asked.items}
              text={({ commonName }) => commonName}
              href={({ id }) => `/console/certificates/${projectId}/${id}`}
              current={current}
            />
          )}
        </>
      )}
    </Section>
  );
}

const HELP = HELPS.get('renewCertificate');

function Details({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const asked = useLive(documents.Certificate, { id });
  const certificate = asked.data?.certificate;
  const { currentCertificate: newest, renewalFailure: failure, renewedFrom, details } = certificate ?? {};
  const link = (other: string, text: string) => <a href={`/console/certificates/${projectId}/${other}`}>{text}</a>;
  const allowed = useLive(
    documents.MayRenew,
    { projectId, commonName: certificate?.commonName ?? '' },
    certificate == null,
  ).data?.can?.allowed ?? [false];
  // It is renewed once: by its profile, and while it is valid or not long over.
  const isRenewable = certificate?.status === 'ACTIVE' && certificate.profile !== null && newest?.id === id;
  return (
    <>
      <Section
        title={certificate ? certificate.commonName : 'Certificate'}
        asked={asked}
        fields={['certificate']}
        more={
          HELP &&
          isRenewable &&
          allowed.every((each) => each) && <Action help={HELP} about={certificate.commonName} input={{ id }} />
        }
      >
        {() =>
          certificate && (
            <>
              {failure && (
                <p className="failure">
                  The last renewal failed with {failure.code} <Time at={failure.failedAt} />
                  <Time before="; next try " at={failure.nextTryAt} />.
                </p>
              )}
              {newest && newest.id !== id && (
                <p className="failure">It was renewed: {link(newest.id, 'the current one')}.</p>
              )}
              <Facts
                facts={{
                  Left: <Left row={certificate} />,
                  Ends: <Exact at={certificate.notAfter} />,
                  Since: <Exact at={certificate.notBefore} />,
                  Revoked: certificate.revokedAt && (
                    <>
                      <Exact at={certificate.revokedAt} />
                      {certificate.revocationReason && `, ${words(certificate.revocationReason).toLowerCase()}`}
                    </>
                  ),
                  Names: certificate.sans.join(', ') || null,
                  Subject: details?.subject,
                  Issuer: details?.issuer,
                  Authority: certificate.authority?.name,
                  Profile: certificate.profileSlug ?? 'none: the API renews it by another one',
                  'Renewed by itself': renewalText(certificate),
                  'Renewal of':
                    renewedFrom && link(renewedFrom.id, `the one that ends ${renewedFrom.notAfter.slice(0, 10)}`),
                  Key: `${certificate.keyAlgorithm}, ${certificate.hasPrivateKey ? 'private key here' : 'private key elsewhere'}`,
                  Usages: [details?.keyUsages ?? [], details?.extendedKeyUsages ?? []].flat().join(', ') || null,
                  'Serial number': <code>{certificate.serialNumber}</code>,
                  'SHA-256': <code>{certificate.fingerprintSha256}</code>,
                }}
              />
              {certificate.metadata.length > 0 && (
                <>
                  <h3>Metadata</h3>
                  <Facts facts={Object.fromEntries(certificate.metadata.map(({ key, value }) => [key, value]))} />
                </>
              )}
              {certificate.renewals !== null && certificate.renewals.length > 0 && (
                <>
                  <h3>Later renewals</h3>
                  <ul>
                    {certificate.renewals.map((each) => (
                      <li key={each.id}>
                        {link(each.id, each.serialNumber)} · {words(each.status)} · {ends(each.notAfter)}
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </>
          )
        }
      </Section>
      <Decisions id={id} />
      <Renewals projectId={projectId} id={id} />
    </>
  );
}

type Certificate = NonNullable<ResultOf<typeof documents.Certificate>['certificate']>;

/** When the service renews it: as the certificate says, or its profile. Null: that cannot be seen. */
function renewalText({ renewBeforeDays, profile, source }: Certificate): string | null {
  if (renewBeforeDays === null && profile === null && source === 'ISSUED') return null;
  const days = renewBeforeDays ?? profile?.renewBeforeDays ?? 0;
  return days === 0 ? 'no' : `${counted(days, 'day')} before its end`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  AUTHORITY_DISABLED: 'Not notified: its authority is disabled.',
  DISABLED: 'Not notified: the alert is disabled.',
  DUE: 'Due: it notifies at its next check.',
  EXPIRED: 'Not notified: the certificate ended before the alert could notify.',
  FAILED: 'Not notified: no target accepted a message.',
  FILTERED: 'Not notified: the certificate does not match the filters.',
  NOTIFIED: 'Notified.',
  NOT_DUE_YET: 'Not yet due.',
  NO_CHANNEL: 'Not notified: the alert has no enabled channel.',
  NO_EVENT: 'Not notified: the event has not happened since the alert was made.',
  PENDING: 'On its way: messages are waiting.',
  REVOKED: 'Not notified: the certificate is revoked.',
  SUPERSEDED: 'Not notified: a newer certificate has replaced it.',
};

function Decisions({ id }: { readonly id: string }) {
  const asked = useLive(documents.Decisions, { id });
  const decisions = asked.data?.alertDecisions?.nodes ?? [];
  return (
    <Section
      title="Who was told"
      asked={asked}
      fields={['alertDecisions']}
      empty={decisions.length === 0 && 'No alert.'}
    >
      {() => (
        <ul className="rules">
          {decisions.map(({ alert, outcome, dueAt, messages }) => (
            <li key={alert.id}>
              <h3>{alert.name}</h3>
              {OUTCOMES[outcome] ?? words(outcome)}
              <Time before=" It notifies " at={dueAt} after="." />
              <ol>
                {messages.map((message) => (
                  <li key={message.id}>
                    {words(message.state)}: {words(message.channelType).toLowerCase()}
                    {message.recipient && ` to ${message.recipient}`},{' '}
                    <Time at={message.endedAt ?? message.createdAt} />
                    {message.errorCode && <span className="failure"> {message.errorCode}</span>}
                  </li>
                ))}
              </ol>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Renewals({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const asked = useLive(documents.Renewals, { projectId, id });
  const requests = asked.data?.certificateRequests?.nodes ?? [];
  return (
    <Section title="Requests" asked={asked} fields={['certificateRequests']} empty={requests.length === 0 && 'None.'}>
      {() => (
        <List
          label="Requests"
          items={requests}
          text={({ kind, state }) => `${words(kind)}: ${words(state)}`}
          title={({ kind, state, createdAt }) => (
            <>
              {words(kind)}: {words(state).toLowerCase()} <Time at={createdAt} />
            </>
          )}
          detail={({ isAutomatic, errorCode, faults }) => (
            <>
              {isAutomatic ? 'By the service itself' : 'Asked for'}
              {errorCode && ` · ${errorCode}`}
              {faults.map(({ path, message }) => ` · ${path} ${message}`)}
            </>
          )}
        />
      )}
    </Section>
  );
}

function Alerts({ projectId }: { readonly projectId: string }) {
  const asked = usePages(documents.Alerts, { projectId }, ({ certificateAlerts }) => certificateAlerts, true);
  return (
    <Section
      title="Alerts"
      asked={asked}
      empty={asked.items.length === 0 && 'No alert: nobody is told before the end.'}
    >
      {() => (
        <List
          label="Alerts"
          items={asked.items}
          text={({ name }) => name}
          title={({ name, isEnabled, undelivered }) => (
            <>
              {name}
              {!isEnabled && <span className="dim"> disabled</span>}
              {undelivered && (
                <span className="failure">
                  {' '}
                  {counted(undelivered.count, 'message')} not sent
                  {undelivered.errorCode && `: ${undelivered.errorCode}`}
                </span>
              )}
            </>
          )}
          detail={({ eventType, alertBefore, channels, lastMessage }) => (
            <>
              {eventType === 'EXPIRATION' ? `${alertBefore} before the end` : words(eventType)} ·{' '}
              {channels
                .filter((channel) => channel.isEnabled)
                .map(({ channelType }) => words(channelType))
                .join(', ') || 'no channel'}
              <Time before=" · last message " at={lastMessage?.createdAt ?? null} />
            </>
          )}
        />
      )}
    </Section>
  );
}
