import pg from 'pg';
import { SESSION } from '../../../src/kernel/database/orm-options.js';
import { buffersOf, executionOf, explained, isRead } from '../../kit/explained.ts';
import type { Executed } from '../../kit/statement-recorder.ts';

/** What it takes to answer a request. */
export interface Work {
  /** That were sent to the database, changes and their transactions too. */
  readonly statements: number;
  /** Rows that the reads among them return. */
  readonly rows: number;
  /** Pages that those reads look at. */
  readonly buffers: number;
  /** The read with the most of them. */
  readonly heaviest: { readonly text: string; readonly params: Executed['params']; readonly buffers: number };
}

/** Does reads again, as the service does them, and counts. */
export class Worker {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** @param organizationId what policies of rows let the reads find */
  static async connect(databaseUrl: string, organizationId: string): Promise<Worker> {
    const options = SESSION.map((setting) => `-c ${setting}`).join(' ');
    const client = new pg.Client({ connectionString: databaseUrl, options });
    await client.connect();
    await client.query(`select set_config('strongroom.organization', $1, false)`, [organizationId]);
    await client.query('set statement_timeout = 0');
    await client.query('set role strongroom_service_strongroom');
    return new Worker(client);
  }

  /** However long it takes: the service would give up some. */
  async workOf(executed: readonly Executed[]): Promise<Work> {
    const reads = executed.filter(({ text }) => isRead(text));
    let [rows, buffers] = [0, 0];
    let heaviest: Work['heaviest'] = { text: '', params: [], buffers: 0 };
    for (const read of reads) {
      const one = await this.#read(read);
      rows += one.rows;
      buffers += one.buffers;
      if (one.buffers > heaviest.buffers) heaviest = { ...read, buffers: one.buffers };
    }
    return { statements: executed.length, rows, buffers, heaviest };
  }

  async #read({ text, params }: Executed): Promise<{ rows: number; buffers: number }> {
    await this.#client.query(`prepare read as ${text}`);
    const plan = await explained(this.#client, executionOf('read', params));
    await this.#client.query('deallocate read');
    return { rows: plan['Actual Rows'] * plan['Actual Loops'], buffers: buffersOf(plan) };
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
