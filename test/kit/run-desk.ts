import { createServer, get, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './shared-services.ts';

/** What the process of a test run gives to its workers, by path. Values are JSON. */
interface Desk {
  readonly '/template': { readonly template: string };
  readonly '/service': { readonly url: string; readonly settings: Settings };
  readonly '/release': Record<string, never>;
  readonly '/other-node': { readonly url: string };
  readonly '/log': { readonly text: string };
  readonly '/mongo-jars': { readonly jars: string };
}

type Handlers = { readonly [Path in keyof Desk]: (worker: string, group: string) => Promise<Desk[Path]> };

/** Asks the process of the test run, which outlives the files of its workers. @param group of settings @throws Error with what it says */
export function askRun<Path extends keyof Desk>(path: Path, { group = '' } = {}): Promise<Desk[Path]> {
  const query = new URLSearchParams({ worker: process.env.JEST_WORKER_ID ?? '', group });
  const address = new URL(`${path}?${query}`, process.env.TEST_RUN_URL);
  return new Promise((resolve, reject) => {
    get(address, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** Answers the workers of this run; its address stands in TEST_RUN_URL, which they inherit. */
export async function openDesk(handlers: Handlers): Promise<Server> {
  const answer = async (path: string, query: URLSearchParams, response: ServerResponse): Promise<void> => {
    const [worker, group] = [query.get('worker') ?? '', query.get('group') ?? ''];
    try {
      response.end(JSON.stringify(await handlers[path as keyof Desk](worker, group)));
    } catch (error) {
      response.statusCode = 500;
      response.end(error instanceof Error ? error.message : String(error));
    }
  };
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://desk');
    void answer(pathname, searchParams, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.TEST_RUN_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}
