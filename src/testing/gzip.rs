//! The gzip coding, as little of it as is needed to send an encoded body.

/// The most that one stored block holds.
const BLOCK: usize = 0xFFFF;

/// The bytes as a gzip member of stored blocks (RFC 1951, section 3.2.4; RFC 1952): encoded, and not smaller.
pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks: Vec<_> = data.chunks(BLOCK).collect();
    let last = blocks.pop().unwrap_or_default();
    for (block, is_last) in blocks.into_iter().map(|block| (block, 0)).chain([(last, 1)]) {
        let [low, high, ..] = block.len().to_le_bytes();
        out.extend_from_slice(&[is_last, low, high, !low, !high]);
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&crc32(data).to_le_bytes());
    out.extend_from_slice(&data.len().to_le_bytes()[..4]);
    out
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}
