/** One that fails does not keep the others from being done; that it failed is told in the end. */
export async function eachOnItsOwn<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const faults: unknown[] = [];
  for (const item of items) await work(item).catch((fault: unknown) => faults.push(fault));
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} of ${items.length} could not be settled`);
}
