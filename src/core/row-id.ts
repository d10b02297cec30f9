const MAX_ROW_ID = 2_147_483_647;

/** Whether a number can be the id of a row at all; any other number is an unknown id (404), never an error of the database. */
export function isRowId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ROW_ID;
}
