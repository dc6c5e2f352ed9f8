const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/**
 * The minutes of a year as the clock on a wall shows them, one after the other: an oracle that knows nothing of offsets. A time of a
 * day comes when the wall first shows it or a later time.
 */
export class LocalCalendar {
  static readonly #made = new Map<string, LocalCalendar>();
  readonly #texts: string[] = [];
  /** By date, the first minute. */
  readonly #days = new Map<string, number>();

  private constructor(
    timeZone: string,
    private readonly start: number,
    private readonly end: number,
  ) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, ...parts });
    for (let at = start; at < end; at += MINUTE) {
      const text = format.format(at);
      this.#texts.push(text);
      const date = text.slice(0, 10);
      if (!this.#days.has(date)) this.#days.set(date, at);
    }
  }

  /** All ask about one time, so that there is one for each zone. */
  static of(timeZone: string, start: number, end: number): LocalCalendar {
    const made = LocalCalendar.#made.get(timeZone) ?? new LocalCalendar(timeZone, start, end);
    LocalCalendar.#made.set(timeZone, made);
    return made;
  }

  /** As `2026-03-29 02:30`. */
  textAt(at: number): string {
    return this.#texts[Math.floor((at - this.start) / MINUTE)] as string;
  }

  /** The first minute, not before a given one, for which this holds. */
  find(from: number, holds: (at: number) => boolean): number {
    for (let at = Math.ceil(from / MINUTE) * MINUTE; at < this.end; at += MINUTE) if (holds(at)) return at;
    throw new Error('the calendar is too short');
  }

  /** The first minute at which the wall shows at least this time. */
  reach(text: string): number {
    const from = this.#days.get(text.slice(0, 10)) as number;
    return this.find(from - DAY / 24, (at) => this.textAt(at) >= text);
  }
}

/** `2026-01-31` and days later. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);

const weekdays = new Map<string, number>();

/** The day of the week of a date, Monday 0 to Sunday 6. */
export function weekdayOf(date: string): number {
  const known = weekdays.get(date) ?? (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;
  weekdays.set(date, known);
  return known;
}
