// Loaded into a service by `NODE_OPTIONS=--import=...`: SIGUSR2 makes its event loop stand still for ever.
process.on('SIGUSR2', () => {
  for (;;);
});
