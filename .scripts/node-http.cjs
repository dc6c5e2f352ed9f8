// Stands for `node:http` in the build. Importing it as an ES module reads all that it exports, and so loads the client behind
// `WebSocket`: 40 ms and 14 MB of every process.
module.exports = process.getBuiltinModule('node:http');
