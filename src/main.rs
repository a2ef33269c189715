fn main() {
    loopscope::start();
}
