import { MikroORM } from '@mikro-orm/postgresql';
import { ormOptions } from '../../src/kernel/database/orm-options.js';
import { migrations } from '../../src/migrations/index.js';

/** Brings a database to a migration, as an older version did. */
export async function migrateTo(url: string, to: (typeof migrations)[number]['name']): Promise<void> {
  const orm = await MikroORM.init(ormOptions(url, { migrations }));
  await orm.migrator.up({ to }).finally(() => orm.close(true));
}
