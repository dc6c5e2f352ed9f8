import { Counter, Gauge, type Registry } from 'prom-client';

/** Event streams of this node. */
export interface StreamFigures {
  readonly open: number;
  readonly refused: number;
  /** By what ended them. */
  readonly ended: Readonly<Record<string, number>>;
}

/** Open event streams, how streams ended, and how many were refused. */
export function measureStreams(registry: Registry, figures: () => StreamFigures): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_event_streams',
    help: 'Open event streams.',
    registers,
    collect() {
      this.set(figures().open);
    },
  });
  new Counter({
    name: 'strongroom_event_streams_ended_total',
    help: 'Event streams that ended, by cause: the client closed it (client), an error or an invalid token (source), a shutdown (drain), or a client that did not read (stalled).',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of Object.entries(figures().ended)) this.inc({ cause }, count);
    },
  });
  new Counter({
    name: 'strongroom_event_streams_refused_total',
    help: 'Event streams refused because of the limits in EVENT_STREAMS.',
    registers,
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
}
