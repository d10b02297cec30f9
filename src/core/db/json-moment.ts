const YEAR_DIGITS = 4;

/** The moment that the database wrote into JSON; it writes years above 9999 without the sign that JavaScript expects. */
export function momentOfJson(text: string): Date {
  const digits = text.indexOf('-');
  return new Date(digits <= YEAR_DIGITS ? text : `+${text.slice(0, digits).padStart(6, '0')}${text.slice(digits)}`);
}
