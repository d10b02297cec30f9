/**
 * The table provider x case. A column is a case; several tests of one column count together. `needsServer`: concurrent processes, which the
 * embedded database cannot have. `stars`: a test of the files about Stars, which are no provider of the common table.
 */
const COLUMNS = [
  {
    label: 'paid',
    meaning: 'a payment is credited once',
    title: /^a payment is credited once/,
    stars: /^credits the stored kopeks once/,
  },
  { label: 'failed', meaning: 'a failure credits nothing, late money is credited', title: /^fail credits nothing/ },
  { label: 'expired', meaning: 'an expiry credits nothing, late money is credited', title: /^expire credits nothing/ },
  { label: 'under', meaning: 'too little is a case', title: /^too little/, stars: /^F4:/ },
  { label: 'over', meaning: 'too much credits the invoice, the rest is a case', title: /^too much/, stars: /^of more stars/ },
  { label: 'refund', meaning: 'a refund is taken back once', title: /^a refund after/, stars: /^F8:/ },
  { label: 'chargeb.', meaning: 'a chargeback is taken back once', title: /^a chargeback after/ },
  {
    label: 'order',
    meaning: 'callbacks in the wrong order',
    title: /^callbacks in the wrong order/,
    stars: /^a refund that is processed before/,
  },
  { label: 'hidden', meaning: 'the method is hidden while a payment is under way', title: /^a payment is credited although/ },
  {
    label: 'down',
    meaning: 'the provider is down',
    title: /^a provider that is down/,
    stars: /^that the messenger did not make/,
  },
  { label: 'stalled', meaning: 'the provider does not answer: nothing else waits', title: /^while it does not answer/ },
  { label: 'on', meaning: 'switched on at run time', title: /^switched on at run time/ },
  { label: 'off', meaning: 'switched off at run time with payments under way', title: /^switched off at run time/ },
  ...Array.from({ length: 12 }, (_, index) => ({
    label: `F${index + 1}`,
    meaning: index === 0 ? 'forged callbacks F1 to F12 of 03a section 0.10' : null,
    title: new RegExp(`^03a F${index + 1}:`),
    stars: new RegExp(`^F${index + 1}:`),
  })),
  {
    label: 'races',
    meaning: 'fifty copies at once',
    title: /^fifty copies/,
    stars: /^thirty copies of one charge/,
    needsServer: true,
  },
  { label: 'crashes', meaning: 'a process ends in the middle', title: /^a process that ends/, needsServer: true },
  { label: 'vectors', meaning: 'signatures of docs/spec/vectors', title: /^(?:V:|exist$)/ },
];

const RANK = ['passed', 'notApplicable', 'notRun', 'missing', 'failed'];
const MARKS = { passed: '✓', notApplicable: '–', notRun: '?', missing: '✗', failed: '✗' };
const COLOURS = { passed: 32, failed: 31, missing: 31 };

/**
 * @param testResults of vitest's JSON reporter
 * @returns a row for each provider, by its method, with the state of every column
 */
export function tableOf(testResults, { hasRaces }) {
  const rows = new Map();
  for (const { name, assertionResults } of testResults) {
    for (const { ancestorTitles, title: fullTitle, status, meta } of assertionResults) {
      // A title may begin with the hazard that it is about.
      const title = fullTitle.replace(/^spec \d+ H\d+: /, '');
      const [describe = ''] = ancestorTitles.filter(Boolean);
      const isOfStars = /payments[\\/]stars\.test|stars-payments\.race/.test(name);
      const method = isOfStars ? 'messenger_stars' : describe.replace(/^vectors of /, '');
      if (!/^[a-z0-9_]+$/.test(method)) continue;
      const state = status !== 'passed' ? 'failed' : meta?.notApplicable ? 'notApplicable' : 'passed';
      for (const column of COLUMNS) {
        if (!(isOfStars ? column.stars : column.title)?.test(title)) continue;
        const states = rows.get(method) ?? new Map();
        rows.set(method, states);
        const known = states.get(column.label) ?? state;
        states.set(column.label, RANK.indexOf(state) > RANK.indexOf(known) ? state : known);
      }
    }
  }
  for (const states of rows.values()) {
    for (const { label, needsServer = false } of COLUMNS) {
      if (!states.has(label)) states.set(label, needsServer && !hasRaces ? 'notRun' : 'missing');
    }
  }
  return rows;
}

/** The cells that no test stands for. */
export function missingCases(rows) {
  return [...rows].flatMap(([method, states]) =>
    [...states].filter(([, state]) => state === 'missing').map(([label]) => `${method} ${label}`),
  );
}

export function printTable(rows) {
  const isColoured = process.stdout.isTTY || process.env.FORCE_COLOR !== undefined;
  const nameWidth = Math.max(...[...rows.keys()].map((method) => method.length));
  const cell = (state, width) => {
    const text = MARKS[state].padStart(width);
    return isColoured && COLOURS[state] ? `\u001B[${COLOURS[state]}m${text}\u001B[0m` : text;
  };
  console.log(`\n${' '.repeat(nameWidth)} ${COLUMNS.map(({ label }) => label).join(' ')}`);
  for (const [method, states] of [...rows].sort(([left], [right]) => left.localeCompare(right))) {
    const cells = COLUMNS.map(({ label }) => cell(states.get(label), label.length));
    console.log(`${method.padEnd(nameWidth)} ${cells.join(' ')}`);
  }
  console.log('\n✓ passed   ✗ failed or no test   – the provider has no such case   ? not run');
  for (const { label, meaning } of COLUMNS) if (meaning) console.log(`${label.padEnd(9)} ${meaning}`);
}
