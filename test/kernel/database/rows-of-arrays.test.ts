import { defineEntity, p } from '@mikro-orm/core';
import { Database } from '../../../src/kernel/database/database.js';
import { sqlStatement, t } from '../../../src/kernel/database/statement.js';
import { columnNamesExcept, sqlColumnsOf, sqlRowsOf } from '../../../src/kernel/database/tables.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { createLog } from '../../../src/kernel/log.js';
import { freshDatabase } from '../../kit/databases.js';

const BoxSchema = defineEntity({
  name: 'Box',
  tableName: 'box',
  properties: {
    id: p.uuid().primary(),
    ownName: p.text().nullable(),
    valueSealed: p.blob().$type<Buffer>(),
    facts: p.json<readonly object[]>(),
    ownerIds: p.array().columnType('uuid[]'),
    isOpen: p.boolean(),
    createdAt: p.datetime(3),
  },
});

const IDS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;

test('rows that are sent in an array for each column arrive as they are, with lists of any length, JSON and null', async () => {
  const { row: types } = sqlColumnsOf(BoxSchema, 'b', columnNamesExcept(BoxSchema, 'createdAt'));
  const sent = sqlRowsOf(types);
  expect(sent.names).toEqual(['id', 'own_name', 'value_sealed', 'facts', 'owner_ids', 'is_open']);
  const echo = sqlStatement({
    text: `select b.id, own_name as "ownName", value_sealed as "valueSealed", facts, owner_ids as "ownerIds", is_open as "isOpen", :more as more
      from (select ${sent.values} from ${sent.from}) b`,
    params: { ...sent.params, more: t.text },
    row: { ...types, more: t.text },
  });
  const first = {
    id: IDS[0],
    ownName: 'a "quoted" name',
    valueSealed: Buffer.from([0, 1]),
    facts: [{ key: '{' }],
    ownerIds: [...IDS],
    isOpen: true,
  };
  const second = { ...first, id: IDS[1], ownName: null, facts: [], ownerIds: [], isOpen: false };
  const database = await Database.connect(await freshDatabase(), {}, createLog('silent'), POOL_LIMITS);
  try {
    const rows = await echo(database.query, { ...sent.valuesOf([first, second]), more: 'x' });
    expect(rows).toEqual([first, second].map((row) => ({ ...row, more: 'x' })));
    expect(await echo(database.query, { ...sent.valuesOf([]), more: 'x' })).toEqual([]);
  } finally {
    await database.close();
  }
});
