import type { ReactNode } from 'react';
import {
  Button,
  Cell,
  Checkbox,
  Collection,
  Column,
  ComboBox,
  GridList,
  GridListItem,
  GridListLoadMoreItem,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  type ListBoxProps,
  ListLayout,
  Popover,
  Row,
  SearchField,
  Select,
  type Selection,
  SelectValue,
  Table,
  TableBody,
  TableHeader,
  TableLayout,
  TableLoadMoreItem,
  TreeItemContent,
  Virtualizer,
} from 'react-aria-components';

const ROW_PX = 54;
const HEADING_PX = 36;
const LIST_PX = 432;
const CHOICE_PX = 36;

interface Kept {
  readonly id: string;
}

interface Rows<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  /** What an item is called. */
  readonly text: (item: Item) => string;
  readonly href?: (item: Item) => string;
  /** The one that is shown elsewhere. */
  readonly current?: string | undefined;
  /** Asks for more when the end is in sight; absent where there is no more. */
  readonly more?: (() => void) | undefined;
}

/** A long list, of which the page has only what is in sight. Each item is two lines of text. */
export function List<Item extends Kept>({
  label,
  items,
  text,
  title = text,
  detail,
  href,
  open,
  current,
  chosen,
  choose,
  isFixed,
  more,
}: Rows<Item> & {
  /** Its first line; absent: what it is called. */
  readonly title?: (item: Item) => ReactNode;
  readonly detail: (item: Item) => ReactNode;
  readonly open?: (item: Item) => void;
  readonly chosen?: Selection;
  readonly choose?: (chosen: Selection) => void;
  /** What cannot be chosen. */
  readonly isFixed?: (item: Item) => boolean;
}) {
  const rest = choose && chosen && { selectedKeys: chosen, onSelectionChange: choose };
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: ROW_PX }}>
      <GridList
        aria-label={label}
        className="list"
        disabledKeys={isFixed ? items.filter(isFixed).map(({ id }) => id) : []}
        disabledBehavior="selection"
        style={{ height: Math.min(items.length * ROW_PX + 2, LIST_PX) }}
        hidden={items.length === 0}
        selectionMode={choose ? 'multiple' : 'none'}
        {...rest}
      >
        <Collection items={items} dependencies={[current, open, isFixed]}>
          {(item) => (
            <GridListItem
              textValue={text(item)}
              className="list-row"
              data-current={item.id === current || undefined}
              {...(href && { href: href(item) })}
              {...(open && { onAction: () => open(item) })}
            >
              {choose && (
                <Checkbox slot="selection" className="check">
                  <span />
                </Checkbox>
              )}
              <div>
                {title(item)}
                <small>{detail(item)}</small>
              </div>
            </GridListItem>
          )}
        </Collection>
        {more && (
          <GridListLoadMoreItem onLoadMore={more} isLoading>
            Loading…
          </GridListLoadMoreItem>
        )}
      </GridList>
    </Virtualizer>
  );
}

/** What a row is called stays in sight when its other cells are scrolled to. */
class WithNames extends TableLayout<unknown> {
  protected override isStickyColumn({ index }: { readonly index: number }): boolean {
    return index === 0;
  }
  /** It sticks to what clips it: that is to be the table alone, which scrolls. */
  protected override buildCollection() {
    const parts = super.buildCollection();
    for (const { layoutInfo } of parts) layoutInfo.allowOverflow = true;
    return parts;
  }
}

/** A long table, of which the page has only what is in sight. The first column names the row. */
export function Grid<Item extends Kept>({
  label,
  columns,
  items,
  text,
  href,
  current,
  mark,
  more,
}: Rows<Item> & {
  readonly columns: readonly {
    /** Absent: its name. */
    readonly id?: string;
    readonly name: string;
    /** In pixels, at least. */
    readonly width: number;
    readonly cell: (item: Item) => ReactNode;
  }[];
  /** By which styles know the row. */
  readonly mark?: (item: Item) => string | undefined;
}) {
  const rows = items.length + (more ? 1 : 0);
  return (
    <Virtualizer layout={WithNames} layoutOptions={{ rowHeight: ROW_PX, headingHeight: HEADING_PX }}>
      <Table
        aria-label={label}
        className="grid"
        style={{ height: Math.min(rows * ROW_PX + HEADING_PX + 2, LIST_PX + HEADING_PX) }}
      >
        <TableHeader>
          {columns.map(({ name, id = name, width }, at) => (
            <Column key={id} id={id} isRowHeader={at === 0} minWidth={width} defaultWidth={`${width}fr`}>
              {name}
            </Column>
          ))}
        </TableHeader>
        <TableBody>
          <Collection items={items} dependencies={[current, columns]}>
            {(item) => (
              <Row
                textValue={text(item)}
                className="grid-row"
                data-mark={mark?.(item)}
                data-current={item.id === current || undefined}
                {...(href && { href: href(item) })}
              >
                {columns.map(({ name, id = name, cell }) => (
                  <Cell key={id}>
                    <div>{cell(item)}</div>
                  </Cell>
                ))}
              </Row>
            )}
          </Collection>
          {more && (
            <TableLoadMoreItem onLoadMore={more} isLoading>
              Loading…
            </TableLoadMoreItem>
          )}
        </TableBody>
      </Table>
    </Virtualizer>
  );
}

/** What an item of a tree shows. @param below what its button is called, if there is anything below it */
export const Branch = ({ below, children }: { readonly below: string | false; readonly children: ReactNode }) => (
  <TreeItemContent>
    <div className="folder">
      {below ? (
        <Button slot="chevron" aria-label={below}>
          <span aria-hidden="true">›</span>
        </Button>
      ) : (
        <span className="chevron" />
      )}
      {children}
    </div>
  </TreeItemContent>
);

export const has = (text: string, searched: string) => text.toLowerCase().includes(searched.trim().toLowerCase());

/** A field to look for something by its name. */
export function Search({
  label,
  value,
  change,
  placeholder,
}: Pick<Chosen, 'label' | 'value' | 'change'> & { readonly placeholder?: string }) {
  return (
    <SearchField className="field" value={value} onChange={change}>
      <Label>{label}</Label>
      <div>
        <Input spellCheck="false" placeholder={placeholder} />
        <Button aria-label={`Clear ${label.toLowerCase()}`}>×</Button>
      </div>
    </SearchField>
  );
}

const Choices = (props: ListBoxProps<Named>) => (
  <Popover className="popover">
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: CHOICE_PX }}>
      <ListBox {...props}>{({ name }) => <ListBoxItem className="choice">{name}</ListBoxItem>}</ListBox>
    </Virtualizer>
  </Popover>
);

interface Named extends Kept {
  readonly name: string;
}

interface Chosen {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Named[];
  readonly change: (id: string) => void;
}

/** One of some, named by their IDs. */
export function Choice({ label, value, choices, change }: Chosen) {
  return (
    <Select className="field" value={value} onChange={(id) => change(String(id))}>
      <Label>{label}</Label>
      <Button>
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <Choices items={choices} style={{ height: Math.min(choices.length * CHOICE_PX, 288) }} />
    </Select>
  );
}

/** One of many, found by its name; or an ID that is not among them. */
export function Pick({ label, value, choices, change }: Chosen) {
  return (
    <ComboBox
      className="field"
      allowsCustomValue
      defaultItems={choices}
      defaultInputValue={value}
      onInputChange={(text) => change(choices.find(({ name }) => name === text)?.id ?? text.trim())}
    >
      <Label>{label}</Label>
      <div>
        <Input placeholder="Name or ID" spellCheck="false" />
        <Button aria-label={`Show ${label.toLowerCase()}`}>▾</Button>
      </div>
      <Choices className="choices" />
    </ComboBox>
  );
}
