import type { ResultOf } from 'gql.tada';
import { useMemo, useState } from 'react';
import { Button, DialogTrigger, type Selection } from 'react-aria-components';
import { useMutation } from 'urql';
import * as documents from './documents/access.ts';
import { Choice, Grid, has, List, Search } from './lists.tsx';
import { Chosen, Confirm, counted, Facts, Failure, holderOf, inDays, Section, Time, words } from './parts.tsx';
import { isPassing, type Pages, useLive, useMembers, usePages, useProjects } from './session.tsx';

const KINDS = { USER: 'Person', IDENTITY: 'Machine', GROUP: 'Group' } as const;

/** Who may do what, why, and until when, at first who looks; and the tokens that should not be there any more. */
export default function Access({ rest }: { readonly rest: readonly string[] }) {
  const id = rest[0] || undefined;
  const { viewer, canInOrganization } = useLive(documents.Own, {}).data ?? {};
  const members = useMembers();
  const shown = id ?? viewer?.userId ?? viewer?.identityId;
  return (
    <>
      <h1>Access</h1>
      <div className="split">
        <Find members={members} current={shown ?? undefined} />
        {shown && (
          <Chosen key={shown} isChosen={id !== undefined}>
            <HolderOf id={shown} viewer={viewer} members={members.items} />
          </Chosen>
        )}
      </div>
      <Tokens key={id} machine={id} own={viewer?.token.id} mayRevoke={canInOrganization?.allowed[0] ?? false} />
    </>
  );
}

const SHOWN = [
  { id: 'ALL', name: 'All' },
  { id: 'USER', name: 'People' },
  { id: 'IDENTITY', name: 'Machines' },
  { id: 'GROUP', name: 'Groups' },
];

type Member = NonNullable<ResultOf<typeof documents.Members>['organizationMembers']>['nodes'][number];

function Find({ members, current }: { readonly members: Pages<Member>; readonly current: string | undefined }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState('ALL');
  const groups = usePages(documents.Groups, {}, ({ groups }) => groups, true);
  const found = useMemo(() => {
    const all = [
      ...members.items.map(({ memberId, memberKind, ...rest }) => ({ ...rest, id: memberId, kind: memberKind })),
      ...groups.items.map((group) => ({ ...group, kind: 'GROUP' as const, endsAt: null })),
    ];
    return all
      .filter((each) => (kind === 'ALL' || each.kind === kind) && has(each.name, name))
      .sort((one, other) => one.name.localeCompare(other.name));
  }, [members.items, groups.items, name, kind]);
  const asked = members.data === null ? (groups.data === null ? members : groups) : members;
  return (
    <Section title="Who" asked={asked}>
      {() => (
        <>
          <div className="fields">
            <Search label="Name" value={name} change={setName} />
            <Choice label="Kind" value={kind} choices={SHOWN} change={setKind} />
          </div>
          <p className="dim" aria-live="polite">
            {found.length} found
          </p>
          <List
            label="People, machines and groups"
            items={found}
            text={(each) => each.name}
            href={(each) => `/console/access/${each.id}`}
            current={current}
            detail={(each) => (
              <>
                {KINDS[each.kind]} · {each.roleSlug}
                <Time before=" until " at={each.endsAt} />
              </>
            )}
          />
          {[members, groups].map(
            (each) => each !== asked && each.error && <Failure key={each.query} error={each.error} />,
          )}
        </>
      )}
    </Section>
  );
}

type Viewer = ResultOf<typeof documents.Own>['viewer'] | undefined;
type Node = NonNullable<ResultOf<typeof documents.Holder>['node']>;
type Holder = Extract<Node, { __typename: 'User' | 'Identity' | 'Group' }>;

type GroupOf = NonNullable<NonNullable<ResultOf<typeof documents.HolderGroups>['user']>['groups']>;
const groupsOf = ({ user, identity }: ResultOf<typeof documents.HolderGroups>): GroupOf | null | undefined =>
  (user ?? identity)?.groups;

function HolderOf({
  id,
  viewer,
  members,
}: {
  readonly id: string;
  readonly viewer: Viewer;
  readonly members: readonly Member[];
}) {
  const asked = useLive(documents.Holder, { id });
  const projects = useProjects(false);
  const node = asked.data?.node;
  const holder = node != null && 'roleSlug' in node ? (node as Holder) : null;
  const isUser = holder?.__typename === 'User';
  const isInGroups = isUser || holder?.__typename === 'Identity';
  const groups = usePages(documents.HolderGroups, isInGroups ? { id, isUser } : null, groupsOf, true);
  if (holder === null) {
    // Everybody may ask what they may do themselves, even if they may not see who they are.
    const isOwn = viewer != null && [viewer.userId, viewer.identityId].includes(id);
    return (
      <>
        <Section title={isOwn ? viewer.name : 'Chosen'} asked={asked}>
          {() => (
            <p>
              {isOwn ? 'This is you. You may not see your groups and roles.' : 'Nobody whom you may see has this ID.'}
            </p>
          )}
        </Section>
        {isOwn && <InProject id={id} projects={projects.items} kind={viewer.userId === null ? 'IDENTITY' : 'USER'} />}
      </>
    );
  }
  const name = holder.__typename === 'User' ? holder.username : holder.name;
  const end = members.find(({ memberId }) => memberId === id)?.endsAt;
  const kind = holder.__typename === 'User' ? 'USER' : holder.__typename === 'Identity' ? 'IDENTITY' : 'GROUP';
  return (
    <>
      <Section title={name} asked={asked}>
        {() => (
          <>
            <Facts
              facts={{
                Kind: KINDS[kind],
                'Role in the organization': (
                  <>
                    {holder.role?.name ?? holder.roleSlug}
                    {holder.role?.description && <span className="dim"> {holder.role.description}</span>}
                  </>
                ),
                Since: <Time at={holder.createdAt} />,
                Until: kind === 'GROUP' ? null : end ? <Time at={end} /> : 'no end',
                'Logs in by': 'authMethods' in holder ? holder.authMethods.map(words).join(', ') || 'nothing' : null,
                Groups: !isInGroups
                  ? null
                  : groups.items.length > 0
                    ? groups.items.map((group) => (
                        <a key={group.id} className="chip" href={`/console/access/${group.id}`}>
                          <bdi>{group.name}</bdi> · {group.roleSlug}
                        </a>
                      ))
                    : groups.fetching
                      ? 'Loading…'
                      : 'none',
                'What it did': kind === 'GROUP' ? null : <a href={`/console/audit/by/${id}`}>Audit trail</a>,
              }}
            />
            {'members' in holder && holder.members && (
              <>
                <h3>{counted(holder.members.totalCount, 'member')}</h3>
                <List
                  label="Members of the group"
                  items={holder.members.nodes.map((member) => ({ ...member, id: member.memberId }))}
                  text={(member) => member.name}
                  href={(member) => `/console/access/${member.memberId}`}
                  detail={(member) => (
                    <>
                      {KINDS[member.memberKind]}, joined <Time at={member.joinedAt} />
                    </>
                  )}
                />
              </>
            )}
            {asked.error && !isPassing(asked.error) && <Failure error={asked.error} />}
            {groups.error && <Failure error={groups.error} />}
          </>
        )}
      </Section>
      <Projects holder={holder} groups={groups} />
      {kind !== 'GROUP' && <InProject id={id} kind={kind} projects={projects.items} />}
      {kind === 'IDENTITY' && <Logins id={id} />}
    </>
  );
}

interface Grant {
  readonly id: string;
  /** Null: all of them. */
  readonly project: { readonly id: string; readonly name: string } | null;
  readonly what: string;
  readonly through: string;
  readonly from: string;
  readonly until: string | null;
  readonly isActive: boolean;
}

const rolesIn = ({ nodes }: GroupOf['nodes'][number]['memberships'], through: string): Grant[] =>
  nodes.flatMap(({ id, project, createdAt, roleAssignments }) =>
    roleAssignments.map(({ roleSlug, startsAt, endsAt, isActive }) => ({
      ...{ id: `${id} ${roleSlug}`, project, what: `Role ${roleSlug}`, through },
      ...{ from: startsAt ?? createdAt, until: endsAt, isActive },
    })),
  );

/** Groups have none. */
const privilegesIn = ({ nodes }: Exclude<Holder, { __typename: 'Group' }>['memberships']): Grant[] =>
  nodes.flatMap(({ project, additionalPrivileges }) =>
    (additionalPrivileges?.nodes ?? []).map(({ id, slug, createdAt, startsAt, endsAt, isActive }) => ({
      ...{ id, project, what: `Privilege ${slug}`, through: 'Itself' },
      ...{ from: startsAt ?? createdAt, until: endsAt, isActive },
    })),
  );

const GRANT_COLUMNS = [
  {
    name: 'Project',
    width: 170,
    cell: ({ project }: Grant) =>
      project ? <a href={`/console/projects/${project.id}`}>{project.name}</a> : <strong>All projects</strong>,
  },
  {
    name: 'Role or privilege',
    width: 210,
    cell: ({ what, through }: Grant) => (
      <>
        {what}
        <small>{through}</small>
      </>
    ),
  },
  { name: 'From', width: 110, cell: ({ from }: Grant) => <Time at={from} /> },
  {
    name: 'Until',
    width: 110,
    cell: ({ until, isActive, from }: Grant) => (
      <>
        {until ? <Time at={until} /> : 'no end'}
        {!isActive && <small>{Date.parse(from) > Date.now() ? 'not yet' : 'over'}</small>}
      </>
    ),
  },
];

type Project = NonNullable<ResultOf<typeof documents.Projects>['projects']>['nodes'][number];

function Projects({
  holder,
  groups: { items: groups, fetching },
}: {
  readonly holder: Holder;
  readonly groups: Pages<GroupOf['nodes'][number]>;
}) {
  const everywhere = usePages(documents.AllProjects, {}, ({ allProjectsMemberships }) => allProjectsMemberships, true);
  const all = [holder, ...groups].map(({ memberships }) => memberships);
  const missing = all.reduce((sum, { totalCount, nodes }) => sum + totalCount - nodes.length, 0);
  const grants: Grant[] = [
    ...everywhere.items.flatMap(({ id, memberId, name, roleSlug, createdAt, endsAt, isActive }) => {
      const isGroup = memberId !== holder.id;
      if (isGroup && !groups.some((group) => group.id === memberId)) return [];
      const grant = { id, project: null, what: `Role ${roleSlug}`, from: createdAt, until: endsAt, isActive };
      return [{ ...grant, through: `Membership of all projects${isGroup ? ` of the group ${name}` : ''}` }];
    }),
    ...rolesIn(holder.memberships, 'Itself'),
    ...(holder.__typename === 'Group' ? [] : privilegesIn(holder.memberships)),
    ...groups.flatMap(({ name, memberships }) => rolesIn(memberships, `Group ${name}`)),
  ];
  return (
    <Section title="Projects" asked={{ query: 'Holder', variables: { id: holder.id }, data: true, fetching }}>
      {() => (
        <>
          {grants.length > 0 ? (
            <Grid
              label="Roles and privileges in projects"
              columns={GRANT_COLUMNS}
              items={grants}
              text={({ project }) => project?.name ?? 'All projects'}
            />
          ) : (
            <p className="dim">{fetching ? 'Loading…' : 'No role in a project where you may read members.'}</p>
          )}
          {missing > 0 && <p className="dim">{counted(missing, 'membership')} more are not shown.</p>}
          {everywhere.error && (
            <p className="dim">
              Memberships of all projects are left out: {everywhere.error.graphQLErrors[0]?.message}
            </p>
          )}
        </>
      )}
    </Section>
  );
}

type Permission = NonNullable<ResultOf<typeof documents.Permissions>['effectivePermissions']>['permissions'][number];

const OPERATORS: Readonly<Record<string, string>> = { is: 'is', in: 'is one of', glob: 'is like', ne: 'is not' };

/** `environment is prod and secret path is like /db/**`. */
const conditionsText = (conditions: Permission['rule']['conditions']): string =>
  Object.entries(conditions ?? {})
    .flatMap(([field, condition]) =>
      condition === null || typeof condition !== 'object'
        ? []
        : Object.entries(condition).flatMap(([operator, wanted]) =>
            wanted === null || !(operator in OPERATORS)
              ? []
              : [`${fieldWords(field)} ${OPERATORS[operator]} ${[wanted].flat().join(', ')}`],
          ),
    )
    .join(' and ');

const fieldWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const originText = ({ source, slug, isForAllProjects, memberships, allProjectsMemberships }: Permission['origin']) => {
  const what = { ROLE: `role ${slug}`, PRIVILEGE: `privilege ${slug}`, ALL_PROJECTS_PERMISSIONS: 'own permissions' }[
    source
  ];
  const through = [...(memberships ?? []), ...(allProjectsMemberships ?? [])]
    .filter(({ memberKind }) => memberKind === 'GROUP')
    .map(({ name }) => `group ${name}`);
  const all = isForAllProjects ? ['membership of all projects'] : [];
  return [what, ...[...all, ...through].map((each) => `through ${each}`)].join(', ');
};

function InProject({
  id,
  kind,
  projects,
}: {
  readonly id: string;
  readonly kind: 'USER' | 'IDENTITY';
  readonly projects: readonly Project[];
}) {
  const [projectId, setProject] = useState('');
  const who = { userId: kind === 'USER' ? id : null, identityId: kind === 'IDENTITY' ? id : null };
  const asked = useLive(documents.Permissions, { projectId, ...who }, projectId === '');
  const permissions = asked.data?.effectivePermissions?.permissions ?? [];
  const subjects = [...Map.groupBy(permissions, ({ rule }) => rule.subject)].sort(([one], [other]) =>
    one.localeCompare(other),
  );
  return (
    <Section
      title="Permissions in a project"
      asked={projectId === '' ? { ...asked, data: { effectivePermissions: [] } } : asked}
      fields={['effectivePermissions']}
      empty={
        projectId === ''
          ? 'Choose a project.'
          : permissions.length === 0 &&
            `Nothing${asked.data?.effectivePermissions?.isMember ? '' : ': it is not a member of the project'}.`
      }
      more={
        <Choice
          label="Project"
          value={projectId}
          choices={[{ id: '', name: 'Choose…' }, ...projects]}
          change={setProject}
        />
      }
    >
      {() => (
        <ul className="rules">
          {subjects.map(([subject, rules]) => (
            <li key={subject}>
              <h3>{words(subject)}</h3>
              <ol>
                {rules.map(({ rule, origin }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rules have an order and no ID
                  <li key={at} data-inverted={rule.inverted || undefined}>
                    <strong>{rule.inverted ? 'May not' : 'May'}</strong>{' '}
                    {rule.action.map((each) => words(each).toLowerCase()).join(', ')}
                    {rule.conditions && <> where {conditionsText(rule.conditions)}</>}
                    <small className="dim">{originText(origin)}</small>
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

function Logins({ id }: { readonly id: string }) {
  const asked = useLive(documents.Logins, { id });
  const logins = asked.data?.identity?.logins;
  return (
    <Section title="Logins" asked={{ ...asked, data: logins }} empty={logins?.nodes.length === 0 && 'No login yet.'}>
      {() => (
        <List
          label="Logins of the machine"
          items={(logins?.nodes ?? []).map((login) => ({ ...login, id: login.eventId }))}
          text={({ action, outcome }) => `${action} ${outcome}`}
          title={({ outcome, occurredAt }) => (
            <>
              <span className={outcome === 'DENIED' ? 'failure' : 'well'}>
                {outcome === 'DENIED' ? 'Refused' : 'Logged in'}
              </span>{' '}
              <Time at={occurredAt} />
            </>
          )}
          detail={({ action, address, facts }) => (
            <>
              {facts
                .filter(({ name, stringValue }) => stringValue && ['reason', 'claim'].includes(name))
                .map(({ name, stringValue }) => `${words(name)}: ${stringValue} · `)}
              {action}
              {address && ` from ${address}`}
            </>
          )}
        />
      )}
    </Section>
  );
}

const WHICH = [
  { id: 'ending', name: 'End within 7 days', filter: () => ({ expiresBefore: inDays(7) }) },
  { id: 'soon', name: 'End within 30 days', filter: () => ({ expiresBefore: inDays(30) }) },
  { id: 'unused', name: 'Not used for 90 days', filter: () => ({ unusedSince: inDays(-90) }) },
  { id: 'idle', name: 'Not used for 7 days', filter: () => ({ unusedSince: inDays(-7) }) },
  { id: 'all', name: 'All', filter: () => ({}) },
];
const MOST_AT_ONCE = 1_000;

type Token = NonNullable<ResultOf<typeof documents.Tokens>['accessTokens']>['nodes'][number];

const nameOf = ({ name }: Pick<Token, 'name'>) => name ?? 'Token without a name';

function Tokens({
  machine,
  own,
  mayRevoke,
}: {
  readonly machine: string | undefined;
  readonly own: string | undefined;
  readonly mayRevoke: boolean;
}) {
  const [which, setWhich] = useState(WHICH[0]?.id ?? '');
  const [chosen, setChosen] = useState<Selection>(new Set());
  const [isOfOne, setOfOne] = useState('no');
  const variables = useMemo(
    () => ({
      expiresBefore: null,
      unusedSince: null,
      identityId: isOfOne === 'yes' ? (machine ?? null) : null,
      ...WHICH.find(({ id }) => id === which)?.filter(),
    }),
    [which, isOfOne, machine],
  );
  const tokens = usePages(documents.Tokens, variables, ({ accessTokens }) => accessTokens, true);
  const isFixed = ({ id }: Token) => id === own;
  // Who may revoke in a project alone: the preview says what is missing.
  const isOffered = mayRevoke || tokens.items.some(({ identity }) => identity?.projectId != null);
  const ids = tokens.items.filter((token) => !isFixed(token) && (chosen === 'all' || chosen.has(token.id)));
  return (
    <Section title="Tokens" asked={{ ...tokens, data: tokens.error ? tokens.data : true }}>
      {() => (
        <>
          <div className="fields">
            <Choice
              label="Which"
              value={which}
              choices={WHICH}
              change={(id) => {
                setChosen(new Set());
                setWhich(id);
              }}
            />
            {machine !== undefined && (
              <Choice
                label="Of"
                value={isOfOne}
                choices={[
                  { id: 'no', name: 'Everybody' },
                  { id: 'yes', name: 'The chosen machine' },
                ]}
                change={setOfOne}
              />
            )}
            {isOffered && (
              <>
                <Button
                  isDisabled={tokens.items.length === 0}
                  onPress={() => setChosen(ids.length > 0 ? new Set() : 'all')}
                >
                  {ids.length > 0 ? 'Select none' : 'Select all'}
                </Button>
                <Revoke
                  ids={ids.slice(0, MOST_AT_ONCE).map(({ id }) => id)}
                  done={() => {
                    setChosen(new Set());
                    tokens.again();
                  }}
                />
              </>
            )}
          </div>
          <p className="dim" aria-live="polite">
            {tokens.data === null ? 'Loading…' : counted(tokens.items.length, 'token')}
            {isOffered && `, ${ids.length} selected`}
            {ids.length > MOST_AT_ONCE && `, of which ${MOST_AT_ONCE} are revoked at once`}
          </p>
          <List
            label="Tokens"
            items={tokens.items}
            text={(token) => `${nameOf(token)} of ${holderOf(token)}`}
            {...(isOffered && { chosen, choose: setChosen })}
            isFixed={isFixed}
            title={(token) => (
              <>
                {nameOf(token)} of {holderOf(token)}
                {token.id === own && <strong> · of this session</strong>}
              </>
            )}
            detail={(token) => (
              <>
                {token.expiresAt ? <Time before="ends " at={token.expiresAt} /> : 'never ends'}
                {' · '}
                <Time
                  before={token.lastUsedAt ? 'last used ' : 'never used, made '}
                  at={token.lastUsedAt ?? token.createdAt}
                />{' '}
                · {words(token.authMethod)}
              </>
            )}
          />
        </>
      )}
    </Section>
  );
}

/** Shows first what would be revoked: tokens that a token has made end with it. */
function Revoke({ ids, done }: { readonly ids: readonly string[]; readonly done: () => void }) {
  const [preview, look] = useMutation(documents.RevokeTokens);
  const [revoked, revoke] = useMutation(documents.RevokeTokens);
  const count = revoked.data?.revokeAccessTokens?.tokens.length ?? 0;
  // What is selected may grow while somebody reads: what was looked at is revoked.
  const [looked, setLooked] = useState(ids);
  const open = () => {
    setLooked(ids);
    void look({ input: { ids: [...ids], dryRun: true } });
  };
  const tokens = preview.data?.revokeAccessTokens?.tokens ?? [];
  const made = tokens.length - looked.length;
  const title = `Revoke ${preview.fetching ? 'tokens' : counted(tokens.length, 'token')}`;
  return (
    <>
      <DialogTrigger onOpenChange={(isOpen) => isOpen && open()}>
        <Button className="danger" isDisabled={ids.length === 0}>
          Revoke…
        </Button>
        <Confirm
          title={title}
          label={title}
          isDisabled={preview.fetching || tokens.length === 0}
          confirm={() => revoke({ input: { ids: [...looked], dryRun: false } })}
          done={done}
        >
          {preview.fetching ? (
            <p className="dim">Looking what would be revoked…</p>
          ) : (
            <>
              <p>
                {made > 0 &&
                  `You selected ${looked.length}; ${made} more ${made === 1 ? 'was' : 'were'} made by them and would end too. `}
                Whoever uses one is refused from then on. This cannot be undone.
              </p>
              <ul className="revoked">
                {tokens.map((token) => (
                  <li key={token.id}>
                    {nameOf(token)} of {holderOf(token)}
                  </li>
                ))}
              </ul>
            </>
          )}
          {preview.error && <Failure error={preview.error} />}
        </Confirm>
      </DialogTrigger>
      {count > 0 && <span role="status">{count} revoked.</span>}
    </>
  );
}
