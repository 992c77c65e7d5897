import type { ComponentChildren } from 'preact';
import { formatCount } from './format-count.js';

interface ListTableProps {
  readonly headings: readonly string[];
  /** The heading of the column with numbers. */
  readonly number?: string;
  /** A further class, for the widths of the columns. */
  readonly kind?: string;
  readonly children: ComponentChildren;
}

/** Roles are explicit here and in the rows, because a narrow window shows the table as a list. */
export function ListTable({ headings, number, kind = '', children }: ListTableProps) {
  return (
    <table class={`list ${kind}`} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {headings.map((heading) => (
            <th
              key={heading}
              scope="col"
              role="columnheader"
              class={heading === number ? 'number' : undefined}
            >
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
}

interface DataTableProps {
  readonly headings: readonly string[];
  /** Index of the first column with numbers. Default: none. */
  readonly numbersFrom?: number;
  /** Name of the table, which the keyboard can then scroll. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

export function DataTable({ headings, numbersFrom, label, children }: DataTableProps) {
  const scrolled = label === undefined ? {} : ({ role: 'group', tabIndex: 0 } as const);
  return (
    <div class="scroll" aria-label={label} {...scrolled}>
      <table>
        <thead>
          <tr>
            {headings.map((heading, index) => (
              <th
                key={heading}
                scope="col"
                class={index >= (numbersFrom ?? Infinity) ? 'number' : undefined}
              >
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface CountTableProps extends Pick<DataTableProps, 'headings'> {
  readonly rows: readonly { readonly name: string; readonly counts: readonly number[] }[];
}

export function CountTable({ headings, rows }: CountTableProps) {
  return (
    <DataTable headings={headings} numbersFrom={1}>
      {rows.map(({ name, counts }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {counts.map((count, index) => (
            <td key={index} class="number">
              {formatCount(count)}
            </td>
          ))}
        </tr>
      ))}
    </DataTable>
  );
}
