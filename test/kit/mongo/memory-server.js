// A server that speaks MongoDB's protocol and keeps everything in memory. Run by Rhino on Java, not by Node: see memory-server.ts.
const serve = (port, wireVersion) => {
  const { MongoServer, MongoVersion, ServerVersion } = Packages.de.bwaldvogel.mongo;
  const { MemoryBackend } = Packages.de.bwaldvogel.mongo.backend.memory;
  const real = ServerVersion.MONGO_5_0;
  const announced = new MongoVersion({
    getVersionArray: () => real.getVersionArray(),
    toVersionString: () => real.toVersionString(),
    // It understands what the driver sends, but announces less than the driver asks for.
    getWireVersion: () => wireVersion,
  });
  new MongoServer(new MemoryBackend().version(announced)).bind('127.0.0.1', port);
};

// Plain numbers: threads of the server have no JavaScript, which objects of Java would need.
const setting = (name) => Number(java.lang.System.getProperty(name));
serve(setting('port'), setting('wireVersion'));
print('ready');
// The other end is held by the process that started this one, so that it ends with that one, however that may end.
while (java.lang.System.in.read() !== -1);
java.lang.Runtime.getRuntime().halt(0);
