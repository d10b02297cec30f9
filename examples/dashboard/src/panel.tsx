import type { ReactNode } from 'react';
import { sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';
import type { Loaded } from './use-loaded.ts';

interface PanelProps<Value> {
  title: string;
  loaded: Loaded<Value>;
  /** Says that there is nothing to show; null = there is. */
  empty?: (value: Value) => string | null;
  children: (value: Value) => ReactNode;
  testId?: string;
  isWide?: boolean;
}

/** A card that says whether it loads, failed or has nothing to show. */
export function Panel<Value>({ title, loaded, empty, children, testId, isWide }: PanelProps<Value>) {
  const texts = useTexts();
  const { value, error, reload } = loaded;
  const nothing = value === null ? null : (empty?.(value) ?? null);
  return (
    <section
      className={isWide ? 'card wide' : 'card'}
      aria-label={title}
      aria-busy={value === null && error === null}
      data-testid={testId}
    >
      <h2>{title}</h2>
      {error !== null && (
        <p className="problem" role="alert">
          {sentenceOf(error, texts.denied)}{' '}
          <button type="button" onClick={reload}>
            {texts.again}
          </button>
        </p>
      )}
      {value === null && error === null && <p className="soft">{texts.loading}</p>}
      {value !== null && (nothing === null ? children(value) : <p className="soft">{nothing}</p>)}
    </section>
  );
}

export function Stat({ name, value, testId }: { name: string; value: string; testId?: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd data-testid={testId}>{value}</dd>
    </div>
  );
}

/** @param size rows of a page */
export function Pager({
  offset,
  size,
  total,
  onOffset,
}: {
  offset: number;
  size: number;
  total: number;
  onOffset: (offset: number) => void;
}) {
  const texts = useTexts();
  return (
    <p className="row">
      <button type="button" disabled={offset === 0} onClick={() => onOffset(offset - size)}>
        {texts.previous}
      </button>
      <button type="button" disabled={offset + size >= total} onClick={() => onOffset(offset + size)}>
        {texts.next}
      </button>
    </p>
  );
}

interface TableProps {
  caption: string;
  columns: readonly string[];
  rows: readonly { key: string | number; cells: readonly ReactNode[] }[];
}

/** The first column names the row; columns that begin with `#` are numbers. */
export function Table({ caption, columns, rows }: TableProps) {
  const isNumber = (index: number) => columns[index]?.startsWith('#') === true;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the page is scrolled by keys
    <div className="scroll" tabIndex={0}>
      <table>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column} scope="col" className={isNumber(index) ? 'number' : undefined}>
                {column.replace('#', '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => {
                const className = isNumber(index) ? 'number' : undefined;
                return index === 0 ? (
                  <th key={columns[index]} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={columns[index]} className={className}>
                    {cell}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A long run: a bar with its number, or one without an end while the size is unknown. */
export function Progress({ name, done, total }: { name: string; done: number; total: number }) {
  const percent = total === 0 ? null : Math.min(100, Math.round((done / total) * 100));
  return (
    <div className="progress">
      <progress aria-label={name} max={100} {...(percent === null ? {} : { value: percent })} />
      <span>{percent === null ? '…' : `${percent} %`}</span>
    </div>
  );
}
