// Runs before the first paint, so that a chosen theme does not flash in the other one. A separate
// file, because the content security policy forbids inline scripts.
try {
  const theme = localStorage.getItem('signalbox.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is disabled: the system's theme applies.
}
