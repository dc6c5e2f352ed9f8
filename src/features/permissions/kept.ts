interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** A least-recently-used cache with a maximum weight. */
export class Kept<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  constructor(private readonly maxWeight: number) {}

  find(key: string): Value | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.value;
  }

  /** @param weight of the value, in bytes; that of the key is added */
  keep(key: string, value: Value, weight: number): void {
    const entry = { value, weight: weight + key.length };
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
    for (const [oldest, { weight: freed }] of this.#entries) {
      if (this.#weight <= this.maxWeight || oldest === key) return;
      this.#entries.delete(oldest);
      this.#weight -= freed;
    }
  }
}
