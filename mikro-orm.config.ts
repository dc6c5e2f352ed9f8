import { assemble } from './src/app.js';
import { readConfig } from './src/config.js';
import { ormOptions } from './src/kernel/database/orm-options.js';
import { migrations } from './src/migrations/index.js';

/** Configuration of the MikroORM CLI: `DATABASE_URL=... npx mikro-orm migration:list`. The service runs migrations on start. */
export default ormOptions(readConfig().databaseUrl?.reveal() ?? 'postgres://localhost/strongroom', {
  entities: assemble().entities,
  migrations,
});
