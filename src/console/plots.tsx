import { Bar, BarChart, CartesianGrid, Tooltip, XAxis, YAxis } from 'recharts';

interface Bars {
  /** What the bars are named after. */
  readonly label: string;
  /** What they count. */
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly count: number }[];
}

/** Counts as bars. Loaded when the first of them is shown: the library is a third of the program. */
export default function Plot({ label, unit, bars }: Bars) {
  return (
    <figure className="plot">
      <BarChart
        responsive
        data={[...bars]}
        margin={{ top: 8, right: 8, bottom: 0, left: -16 }}
        style={{ width: '100%', height: 180 }}
      >
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="name" stroke="var(--dim)" tickLine={false} fontSize={12} />
        <YAxis allowDecimals={false} stroke="var(--dim)" tickLine={false} axisLine={false} fontSize={12} />
        <Tooltip
          cursor={{ fill: 'var(--line)', opacity: 0.4 }}
          contentStyle={{ background: 'var(--surface)', borderColor: 'var(--line)', color: 'var(--ink)' }}
          itemStyle={{ color: 'inherit' }}
        />
        <Bar dataKey="count" name={unit} fill="var(--brass)" radius={[3, 3, 0, 0]} isAnimationActive={false} />
      </BarChart>
      <figcaption className="dim">
        {label} <span className="for-readers">{bars.map(({ name, count }) => `${name}: ${count}`).join(', ')}</span>
      </figcaption>
    </figure>
  );
}
