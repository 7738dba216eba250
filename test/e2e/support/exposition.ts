/** One line of the Prometheus text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A whole answer of `/metrics`. */
export interface Exposition {
  /** The families that a `# TYPE` line announces, with their type. */
  readonly families: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format 0.0.4. Throws on a line that is none: the test has then found a bug. */
export function parseExposition(text: string): Exposition {
  const lines = text.split("\n").filter((line) => line !== "");
  const families = lines
    .map((line) => /^# TYPE (\S+) (\S+)$/.exec(line))
    .flatMap((match) => (match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const]));
  return {
    families: new Map(families),
    samples: lines.filter((line) => !line.startsWith("#")).map(parseSample),
  };
}

/** The value of the one sample that has these labels among its own, or undefined where there is none. */
export function sampleValue(
  exposition: Exposition,
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const found = exposition.samples.filter((sample) => sample.name === name && matches(sample, labels));
  if (found.length > 1) {
    throw new Error(`Cannot pick one ${name}: ${found.length} samples have ${JSON.stringify(labels)}`);
  }
  return found[0]?.value;
}

function matches(sample: Sample, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => sample.labels[name] === value);
}

function parseSample(line: string): Sample {
  const [, name, labels, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new Error(`Cannot parse metrics: "${line}" is no sample`);
  }
  const pairs = [...(labels ?? "").matchAll(LABEL)].map((match) => [match[1] ?? "", match[2] ?? ""] as const);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
