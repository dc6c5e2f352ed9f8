import {
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { GRAPHQL, graphqlDocument, rootTypes } from '../../kit/operations/graphql.js';
import { fill, type GraphQLOperation, type Ids } from '../../kit/operations/operation.js';
import { type Executed, StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { IS_TABLE, withClient } from '../../kit/tables.js';
import { seedWorld, type World } from '../../kit/world.js';
import { Replay } from './replay.js';

/** Rows that are added to each table. */
const OTHERS = 5_000;
/** Rows and pages that a count of one or a few may look at. */
const FEW = 500;

const fieldsOf = (type: GraphQLObjectType) => Object.values(type.getFields());
const isCounted = (type: unknown): boolean => isObjectType(type) && 'totalCount' in type.getFields();

/** What asks for one count. */
interface Count {
  readonly name: string;
  readonly operation: GraphQLOperation;
  readonly selection: string;
}

/** Each count of a root field, and each of an object that a root field returns. */
const COUNTS: readonly Count[] = GRAPHQL.flatMap((operation): Count[] => {
  const field = rootTypes().Query.getFields()[operation.field];
  const type = getNamedType(field?.type);
  if (field === undefined || isListType(getNullableType(field.type)) || !isObjectType(type)) return [];
  if (isCounted(type)) return [{ name: operation.field, operation, selection: 'totalCount' }];
  return fieldsOf(type)
    .filter((it) => isCounted(getNamedType(it.type)) && !it.args.some(isRequiredArgument))
    .map(({ name }) => ({ name: `${operation.field}.${name}`, operation, selection: `${name} { totalCount }` }));
});

/** Of all rows of an organization, whatever else they are asked for: of these there are few. */
const OF_ORGANIZATION = ['projectRescues', 'organizationMembers', 'identities'];

/** Whether it is of something in an organization, so that the rest of it does not matter. */
const isNarrow = ({ operation: { field, args } }: Count): boolean =>
  !OF_ORGANIZATION.includes(field) && JSON.stringify(args).includes('"$');

/** Columns with names that are unique in an organization. */
const NAMES = ['name', 'slug', 'username', 'dedupe_key'];

/** Copies one row of a table many times, with other IDs. @param kept columns that stay as they are */
const copiesOf = (table: string, columns: readonly Column[], kept: readonly string[]): string => {
  const copyOf = ({ name, type, isUnique }: Column): string => {
    if (kept.includes(name)) return name;
    if (type === 'uuid') return `case when ${name} is not null then gen_random_uuid() end`;
    if (type === 'bytea' && isUnique)
      return `case when ${name} is not null then sha256(uuid_send(gen_random_uuid())) end`;
    // A name of its own in each round: which row is copied is not said.
    return isUnique && NAMES.includes(name) ? `${name} || '-${kept.join()}-' || n` : name;
  };
  const names = columns.map(({ name }) => name).join(', ');
  const isOwned = columns.some(({ name }) => name === 'organization_id');
  return `insert into ${table} (${names}) select ${columns.map(copyOf).join(', ')}
    from (select * from ${table} ${isOwned ? 'where organization_id = $1' : 'where $1::uuid is not null'} limit 1) one
    cross join generate_series(1, ${OTHERS}) n`;
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isUnique: boolean;
}

/** Tables of which no list counts rows, and whose keys are no IDs; keys of organizations, of which one is the default. */
const NOT_COPIED = [
  'schema_migration',
  'audit_record',
  'audit_seal',
  'access_change',
  'access_history',
  'installation',
  'job_kind',
  'organization_key',
];

const COLUMNS = `select table_name as "table", json_agg(json_build_object('name', quote_ident(c.attname), 'type', c.atttypid::regtype,
    'isUnique', exists (select from pg_index i where i.indrelid = c.attrelid and i.indisunique and c.attnum = any(i.indkey)))) as columns
  from information_schema.tables join pg_attribute c on c.attrelid = table_name::regclass
  where ${IS_TABLE} and c.attnum > 0 and not c.attisdropped and c.attgenerated = '' and c.attidentity = ''
    and table_name <> all($1)
  group by table_name order by table_name`;

describe('a count', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let world: World;
  let admin: Caller;
  const executed = new Map<string, readonly Executed[]>();
  let tables: readonly { readonly table: string; readonly columns: readonly Column[] }[];

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url, ALLOW_PRIVATE_TARGETS: 'true' });
    ({ world, admin } = await seedWorld(strongroom.seed));
    for (const { name, operation, selection } of COUNTS) {
      const { document, args } = graphqlDocument(operation);
      recorder.executed.length = 0;
      mustSucceed(
        await admin.graphql(
          document.replace(/\{ __typename .*$/s, `{ ${selection} } }`),
          fill(args, world as unknown as Ids),
        ),
      );
      executed.set(
        name,
        recorder.executed.filter(({ text }) => /\bcount\(/.test(text)),
      );
    }
    replay = await Replay.create();
    await replay.fill(databaseUrl);
    await withClient(databaseUrl, async (client) => {
      tables = (await client.query(COLUMNS, [NOT_COPIED])).rows;
    });
  });

  afterAll(async () => {
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  const addOthers = async (...kept: readonly string[]): Promise<void> => {
    await replay.sql('set session_replication_role = replica');
    for (const { table, columns } of tables) await replay.sql(copiesOf(table, columns, kept), [world.organization]);
    await replay.sql('set session_replication_role = origin');
    await replay.sql('analyze');
  };

  test('is a statement for most of the lists that have one', () => {
    expect([...executed.values()].filter((statements) => statements.length > 0).length).toBeGreaterThan(40);
  });

  /** Counts whose statements read too much. */
  const tooMuch = async (counts: readonly Count[]): Promise<string[]> => {
    const found: string[] = [];
    for (const { name } of counts)
      for (const { text, read } of await replay.measure(world.organization, executed.get(name) ?? []))
        if (read > FEW) found.push(`${name} reads ${read}: ${text.trim().slice(0, 300)}`);
    return found;
  };

  test('of an organization reads nothing of others', async () => {
    await addOthers();
    expect(await tooMuch(COUNTS)).toEqual([]);
  });

  test('of a project, an identity, a group and their like reads nothing of the rest of the organization', async () => {
    await addOthers('organization_id');
    expect(await tooMuch(COUNTS.filter(isNarrow))).toEqual([]);
  });
});
