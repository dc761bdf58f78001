/** Counts the turns of the event loop until `stop` is called. */
export function countTurns() {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  return {
    get turns() {
      return turns;
    },
    stop() {
      isCounting = false;
    },
  };
}
