/** One series of a page of metrics, with its value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A page of metrics, read by the rules of the text format. */
export class Exposition {
  readonly samples: readonly Sample[];
  /** Names with their types, as `# TYPE` tells them. */
  readonly types: ReadonlyMap<string, string>;

  /** @throws Error naming the line that breaks a rule: HELP, then TYPE, then all samples of a name, each series once */
  constructor(text: string) {
    const samples: Sample[] = [];
    const types = new Map<string, string>();
    const helped = new Set<string>();
    const seen = new Set<string>();
    let current = '';
    if (!text.endsWith('\n')) throw new Error('the last line has no end');
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const refuse = (why: string): never => {
        throw new Error(`${why}: ${line}`);
      };
      const [, kind, about, rest] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
      if (kind === 'HELP') {
        if (helped.has(about as string)) refuse('a second HELP');
        helped.add(about as string);
      } else if (kind === 'TYPE') {
        current = about as string;
        if (types.has(current)) refuse('a second TYPE');
        if (!helped.has(current)) refuse('a TYPE without HELP');
        if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest as string)) refuse('no type');
        types.set(current, rest as string);
      } else {
        const sample = readSample(line) ?? refuse('no sample');
        const family =
          types.get(current) === 'histogram' ? sample.name.replace(/_(bucket|sum|count)$/, '') : sample.name;
        if (family !== current) refuse(`a sample among those of ${current}`);
        const series = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
        if (seen.has(series)) refuse('a series twice');
        seen.add(series);
        samples.push(sample);
      }
    }
    this.samples = samples;
    this.types = types;
  }

  /** The sum of the series of a name that have these labels; 0 when there are none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.samples
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }

  has(name: string): boolean {
    return this.samples.some((sample) => sample.name === name);
  }
}

function readSample(line: string): Sample | null {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|Nan|[+-]Inf|[+-]?[\d.]+(?:e[+-]?\d+)?)$/.exec(line);
  if (match === null) return null;
  const [, name = '', inside = '', value = ''] = match;
  const pairs = [...inside.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)",?/g)];
  if (pairs.map(([pair]) => pair).join('') !== inside) return null;
  const labels = Object.fromEntries(pairs.map(([, label, text]) => [label, text]));
  return { name, labels: labels as Record<string, string>, value: Number(value.replace('Inf', 'Infinity')) };
}
