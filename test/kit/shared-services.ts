import { Service } from './service.ts';

interface Shared {
  readonly service: Service;
  readonly url: string;
  readonly token: string;
  readonly databaseUrl: string;
}

/** One service for each worker of a test run, made when the first of its suites asks for it. They end with the run. */
export class SharedServices {
  readonly #services = new Map<string, Promise<Shared>>();
  readonly #newDatabase: () => Promise<string>;

  constructor(newDatabase: () => Promise<string>) {
    this.#newDatabase = newDatabase;
  }

  /** @throws Error when it has ended, since nobody asked it to: with what it printed */
  async of(worker: string): Promise<Omit<Shared, 'service'>> {
    const shared = this.#services.get(worker) ?? this.#start();
    this.#services.set(worker, shared);
    const { service, ...access } = await shared;
    const { exitCode, signalCode } = service.child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(
        `the shared service of worker ${worker} ended with ${signalCode ?? exitCode}:\n${service.output}`,
      );
    return access;
  }

  /** Stops them with SIGTERM. @throws Error when one does not end with 0 */
  async stop(): Promise<void> {
    const running = await Promise.allSettled(this.#services.values());
    const services = running.flatMap((result) => (result.status === 'fulfilled' ? result.value.service : []));
    const codes = await Promise.all(services.map((service) => service.stop()));
    for (const [index, code] of codes.entries()) {
      if (code !== 0) throw new Error(`a shared service ended with ${code}:\n${services[index]?.output}`);
    }
  }

  async #start(): Promise<Shared> {
    const databaseUrl = await this.#newDatabase();
    const service = await Service.start({ env: { DATABASE_URL: databaseUrl } });
    const token = await service.firstToken();
    return { service, url: service.url, token, databaseUrl };
  }
}
