// The clock.
import type { Connected, Query } from './database.js';
import { sqlStatement, t } from './statement.js';

export const findNow = sqlStatement({ text: 'select now() as now', params: {}, row: { now: t.time } });

/** The current time of the database: in a transaction, that of its begin. */
export const databaseNow = async (from: Connected | Query): Promise<Date> => (await findNow(from, {}))[0]?.now as Date;
