import { useSharedStrongroom } from '../../kit/strongroom.js';

describe('autovacuum', () => {
  const strongroom = useSharedStrongroom();

  test.each(['secret', 'secret_version', 'secret_tag', 'secret_reference'])(
    'comes to %s when a fiftieth of its rows is dead, new or changed, and not only when a fifth is',
    async (table) => {
      const options = await strongroom.sql(
        `select option_name as name, option_value::float8 as value
         from pg_class, pg_options_to_table(reloptions) where pg_class.oid = $1::regclass order by 1`,
        [table],
      );
      expect(options).toEqual(
        ['analyze', 'vacuum_insert', 'vacuum'].map((kind) => ({
          name: `autovacuum_${kind}_scale_factor`,
          value: 0.02,
        })),
      );
    },
  );
});
