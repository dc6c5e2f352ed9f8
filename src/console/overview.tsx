import type { ResultOf } from 'gql.tada';
import { type ComponentProps, lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { Activity, Ages, Credentials, Overview as OverviewDocument, Schedule } from './documents/overview.ts';
import { HELPS } from './helps.ts';
import { Action, counted, daysUntil, For, holderOf, inDays, Section, Time, words } from './parts.tsx';
import { useLive, usePages } from './session.tsx';

const Plot = lazy(() => import('./plots.tsx'));

type Item = NonNullable<ResultOf<typeof OverviewDocument>['attention']>['nodes'][number];

/** What an operator looks at in the morning: what needs a person first, then what is coming. */
export function Overview() {
  return (
    <>
      <h1>Overview</h1>
      <Attention />
      <Coming />
      <Tokens />
      <Deliveries />
      <Ageing />
      <Lately />
    </>
  );
}

const COUNT = new Intl.NumberFormat('en');
const CERTIFICATE_DAYS = 90;
/** The same for all parts of the page: one request answers them. */
const TIMES = { certificatesBefore: inDays(CERTIFICATE_DAYS) };

function Attention() {
  const asked = useLive(OverviewDocument, {});
  const { nodes = [], pageInfo } = asked.data?.attention ?? {};
  const certificates = useLive(Schedule, TIMES).data?.projects?.nodes.flatMap(
    (project) => project.certificates?.nodes ?? [],
  );
  const withProfile = new Set(certificates?.filter(({ profileId }) => profileId !== null).map(({ id }) => id));
  // A certificate without a profile is not renewed without more.
  const mayHelp = ({ mutation, inputValue }: Item['operations'][number]) =>
    HELPS.has(mutation) && (mutation !== 'renewCertificate' || withProfile.has(inputValue));
  const items = nodes.map((item) => ({ ...item, operations: item.operations.filter(mayHelp) }));
  const kinds = [...Map.groupBy(items, ({ kind }) => kind)];
  return (
    <Section title="Needs a person" asked={asked}>
      {() =>
        kinds.length === 0 ? (
          <p className="well">Nothing needs a person.</p>
        ) : (
          <>
            {kinds.map(([kind, ofKind]) => (
              <OfOneKind key={kind} kind={kind} items={ofKind} />
            ))}
            {pageInfo?.hasNextPage && <p className="dim">There is more: fix these first, or open the query.</p>}
          </>
        )
      }
    </Section>
  );
}

/** So many of a kind are shown before all are asked for. */
const FEW = 3;

function OfOneKind({ kind, items }: { readonly kind: string; readonly items: readonly Item[] }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <div className="kind" data-urgency={items[0]?.urgency.toLowerCase()}>
      <h3>
        {words(kind)} <span className="count">{items.length}</span>
      </h3>
      <ul className="items">
        {(isWhole ? items : items.slice(0, FEW)).map((item) => (
          <AttentionRow key={item.subjectId} item={item} />
        ))}
      </ul>
      {items.length > FEW && (
        <Button className="quiet" onPress={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show all ${items.length}`}
        </Button>
      )}
    </div>
  );
}

function AttentionRow({ item }: { readonly item: Item }) {
  const { since, message, subjectId, subjectName, subjectType, project, operations } = item;
  const about = subjectName ?? words(subjectType);
  const [offered] = operations;
  const help = offered && HELPS.get(offered.mutation);
  const isCertificate = subjectType === 'Certificate' && project !== null;
  return (
    <li>
      <div>
        <strong>
          <a
            href={isCertificate ? `/console/certificates/${project.id}/${subjectId}` : `/console/audit/of/${subjectId}`}
          >
            {about}
          </a>
        </strong>
        {project && <a href={`/console/projects/${project.id}`}>{project.name}</a>}
        <p className="dim">
          {message} Open <For since={since} />.
        </p>
      </div>
      {offered && help && (
        <Action
          help={help}
          about={about}
          input={{ [offered.inputField]: offered.inputField === 'ids' ? [offered.inputValue] : offered.inputValue }}
        />
      )}
    </li>
  );
}

const ROTATION_DAYS = 14;
const DATE = { weekday: 'short', day: 'numeric', month: 'short' } as const;
const DAY = new Intl.DateTimeFormat('en', DATE);
const MOMENT = new Intl.DateTimeFormat('en', { ...DATE, hour: '2-digit', minute: '2-digit' });

const clock = ({ hours, minutes }: { hours: number; minutes: number }) =>
  [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');

function Coming() {
  const asked = useLive(Schedule, TIMES);
  const projects = asked.data?.projects?.nodes ?? [];
  const certificates = projects.flatMap(({ certificates: own }) => own?.nodes ?? []);
  const total = projects.reduce((sum, { certificates: own }) => sum + (own?.totalCount ?? 0), 0);
  const weeks = Array.from({ length: Math.ceil(CERTIFICATE_DAYS / 7) }, (_, week) => ({
    name: `${week * 7}–${Math.min(week * 7 + 6, CERTIFICATE_DAYS)}`,
    count: certificates.filter(({ notAfter }) => Math.max(0, Math.floor(daysUntil(notAfter) / 7)) === week).length,
  }));
  const rotations = projects
    .flatMap(({ id, name, secretRotations }) =>
      (secretRotations?.nodes ?? []).flatMap((rotation) =>
        rotation.nextRotationAt !== null && daysUntil(rotation.nextRotationAt) < ROTATION_DAYS
          ? [{ ...rotation, at: rotation.nextRotationAt, project: { id, name } }]
          : [],
      ),
    )
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <>
      <Section title="Certificates by days left" asked={asked}>
        {() => (
          <>
            <p>
              {COUNT.format(total)} end within {CERTIFICATE_DAYS} days
              {total > certificates.length && `; the first ${COUNT.format(certificates.length)} of them are shown`}.
            </p>
            <Bars label="Days left" unit="certificates" bars={weeks} />
          </>
        )}
      </Section>
      <Section title="Rotations of the next two weeks" asked={asked} empty={rotations.length === 0 && 'None is due.'}>
        {() => (
          <ol className="timeline">
            {rotations.map(({ id, name, at, project, schedule: { timeZone, window } }) => (
              <li key={id}>
                <span>
                  <bdi>{name}</bdi> <a href={`/console/projects/${project.id}`}>{project.name}</a>
                </span>
                <span className="track" aria-hidden>
                  <i style={{ left: `${Math.max(0, Math.min(1, daysUntil(at) / ROTATION_DAYS)) * 100}%` }} />
                </span>
                <time dateTime={at}>
                  {MOMENT.format(new Date(at))}
                  {window !== null && `, window ${clock(window.from)}–${clock(window.to)} ${timeZone}`}
                </time>
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

const TOKEN_DAYS = 7;
const UNUSED_DAYS = 90;
const FEWER = 5;
const TOKEN_TIMES = { endsBefore: inDays(TOKEN_DAYS), unusedSince: inDays(-UNUSED_DAYS) };

/** A count, and the first of what it counts. */
function Half({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul>{children}</ul>
    </div>
  );
}

function Tokens() {
  const asked = useLive(Credentials, TOKEN_TIMES);
  const { ending, unused } = asked.data ?? {};
  return (
    <Section
      title="Tokens"
      asked={asked}
      fields={['ending', 'unused']}
      more={
        <a className="to-query" href="/console/access">
          Look and revoke
        </a>
      }
    >
      {() => (
        <div className="halves">
          <Half title={`${ending?.totalCount ?? 0} end within ${TOKEN_DAYS} days`}>
            {ending?.nodes.slice(0, FEWER).map((token) => (
              <li key={token.id}>
                <bdi>{token.name ?? 'A token'}</bdi> of <bdi>{holderOf(token)}</bdi> <Time at={token.expiresAt} />
              </li>
            ))}
          </Half>
          <Half title={`${unused?.totalCount ?? 0} were not used for ${UNUSED_DAYS} days`}>
            {unused?.nodes.slice(0, FEWER).map((token) => (
              <li key={token.id}>
                <bdi>{token.name ?? 'A token'}</bdi> of <bdi>{holderOf(token)}</bdi>,{' '}
                {token.lastUsedAt ? 'last used ' : 'made '}
                <Time at={token.lastUsedAt ?? token.createdAt} />
              </li>
            ))}
          </Half>
        </div>
      )}
    </Section>
  );
}

/** Messages that did not arrive or wait, and connections that do not work, by how long. */
function Deliveries() {
  const asked = useLive(Credentials, TOKEN_TIMES);
  const { projects, appConnections } = asked.data ?? {};
  const messages = (projects?.nodes ?? [])
    .map(({ failed, waiting, ...project }) => ({
      ...project,
      failed: failed?.totalCount ?? 0,
      waiting: waiting?.totalCount ?? 0,
    }))
    .filter(({ failed, waiting }) => failed + waiting > 0);
  const count = (state: 'failed' | 'waiting') => messages.reduce((sum, project) => sum + project[state], 0);
  const failing = (appConnections?.nodes ?? []).filter(({ failingSince }) => failingSince !== null);
  return (
    <Section title="Messages and connections" asked={asked} fields={['projects', 'appConnections']}>
      {() => (
        <div className="halves">
          <Half title={`${count('failed')} messages failed, ${count('waiting')} wait`}>
            {messages.slice(0, FEWER).map(({ id, name, failed, waiting }) => (
              <li key={id}>
                <a href={`/console/projects/${id}`}>{name}</a> {failed} failed, {waiting} wait
              </li>
            ))}
          </Half>
          <Half title={`${failing.length} of ${appConnections?.totalCount ?? 0} connections fail`}>
            {failing.slice(0, FEWER).map(({ id, name, checkCode, failingSince }) => (
              <li key={id}>
                <bdi>{name}</bdi> {checkCode} {failingSince && <For since={failingSince} />}
              </li>
            ))}
          </Half>
        </div>
      )}
    </Section>
  );
}

const AGES = [
  ['a week', 7],
  ['a month', 30],
  ['90 days', 90],
  ['half a year', 182],
  ['a year', 365],
  ['older', Number.POSITIVE_INFINITY],
] as const;

/** So many values are read, a page at a time, when the page is opened: what is beyond them is said. */
const MOST_VALUES = 20_000;

function Ageing() {
  const read = usePages(Ages, {}, ({ searchSecrets }) => searchSecrets);
  const { items, next, error, fetching, more } = read;
  const isWhole = next === null;
  const isRead = isWhole || items.length >= MOST_VALUES;
  useEffect(() => {
    if (!isRead && !fetching && error === undefined) more();
  });
  const ages = items.flatMap(({ secret: { valueChangedAt } }) => (valueChangedAt ? [-daysUntil(valueChangedAt)] : []));
  const places = ages.map((age) => AGES.findIndex(([, most]) => age < most));
  const bars = AGES.map(([name], at) => ({ name, count: places.filter((place) => place === at).length }));
  const old = ages.filter((age) => age >= 90).length;
  return (
    <Section title="Age of secrets" asked={isRead ? read : { ...read, data: null }}>
      {() => (
        <>
          <p>
            {isWhole ? '' : 'Of the first '}
            {COUNT.format(ages.length)} values, {COUNT.format(old)} were not changed for 90 days.
          </p>
          <Bars label="Last changed within" unit="values" bars={bars} />
        </>
      )}
    </Section>
  );
}

const ACTIVITY_DAYS = 14;

function Lately() {
  const variables = useMemo(() => ({ from: inDays(-ACTIVITY_DAYS) }), []);
  const asked = useLive(Activity, variables);
  const events = asked.data?.auditEvents?.nodes ?? [];
  const days = Array.from({ length: ACTIVITY_DAYS }, (_, at) =>
    DAY.format(Date.now() - (ACTIVITY_DAYS - 1 - at) * 86_400_000),
  );
  const byDay = Map.groupBy(events, ({ occurredAt }) => DAY.format(new Date(occurredAt)));
  return (
    <Section title="Changes per day" asked={asked}>
      {() => (
        <>
          <p>
            {asked.data?.auditEvents?.pageInfo.hasNextPage && 'The last '}
            {counted(events.length, 'change')} in {ACTIVITY_DAYS} days.
          </p>
          <Bars label="Day" unit="changes" bars={days.map((name) => ({ name, count: byDay.get(name)?.length ?? 0 }))} />
        </>
      )}
    </Section>
  );
}

/** Nothing is no plot. */
const Bars = (props: ComponentProps<typeof Plot>) =>
  props.bars.some(({ count }) => count > 0) && (
    <Suspense fallback={<div className="plot" />}>
      <Plot {...props} />
    </Suspense>
  );
