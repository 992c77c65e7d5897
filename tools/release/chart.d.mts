/** Packages the chart as it is published; returns the path of the package. */
export function packageChart(options: {
  readonly root: string;
  /** Such as `example/gatehouse`, on GitHub. */
  readonly repository: string;
  readonly destination: string;
  readonly helm?: string;
}): Promise<string>;
